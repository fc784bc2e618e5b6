package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/coderl/cr/runtime/weights"
)

type mergeCmd struct {
	Dir string `arg:"" type:"existingdir" help:"Checkpoint folder of FSDP training, such as global_step_100 or its actor folder."`

	Out   string `required:"" placeholder:"DIR" help:"New folder for the model."`
	DType string `name:"dtype" enum:"config,bf16,f32,file" default:"config" help:"Element type to write: config (what config.json says), bf16, f32, file (as trained)."`
	Untie bool   `help:"Where tied embeddings and output projection differ, write both and say so in config.json."`
}

// Help is shown below the flags.
func (mergeCmd) Help() string {
	return `Example:
  cr merge checkpoints/global_step_100/actor --out Qwen3-1.7B-rl

Joins the shards that verl writes (model_world_size_W_rank_R.pt) into safetensors
beside the configuration and tokenizer. No Python is run: a pickle that names
anything but tensors is refused.`
}

// Run merges.
func (m *mergeCmd) Run(ctx context.Context, c *console) error {
	o := weights.MergeOptions{Untie: m.Untie}
	if m.DType != "config" {
		o.DType = m.DType
	}
	merged, err := weights.Merge(ctx, m.Dir, m.Out, o)
	if errors.Is(err, weights.ErrTieBroken) {
		return badInput(fmt.Errorf("%w (--untie writes both)", err))
	}
	if err != nil {
		return err
	}
	return c.result(merged, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: %d tensors from %d ranks, %s, %s\n", merged.Dir, merged.Tensors, merged.Ranks, merged.DType, humanBytes(merged.Bytes))
		return err
	})
}
