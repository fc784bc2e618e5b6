// Package recipes holds the training presets that ship inside cr, one short YAML
// file each. What a key means is in package preset; the packages below run them:
//
//	preset      the schema, files and settings
//	examples    conversations as token ids with a loss mask; packing
//	sft         supervised fine-tuning, step by step
//	grpo        reinforcement by GRPO, step by step
//	reward      what an answer is worth, by tests or by a reward of one's own
//	rate        the learning rate by update
//	runlog      console line, metrics and TensorBoard events of a run
//	checkpoint  the checkpoints of a run's folder
//	verl        the same recipe for verl on Ray
//	logs        tables and figures out of the logs of cr and verl
//	tiny        the conversations that the shipped model learns from
package recipes

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml
var presets embed.FS

// Presets is the folder of the embedded presets, NAME.yaml each.
func Presets() fs.FS { return presets }
