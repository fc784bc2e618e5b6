// Package verl takes a training recipe to verl on Ray, for those who outgrow one
// machine: the overrides that one verl version understands, the script that runs
// them, the tool configuration, and the Python module with our reward and code
// interpreter. Every key is checked against that version's own configuration, and
// keys that it composes and never reads are refused.
package verl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/coderl/cr/recipes/preset"
)

// ErrUnsupported is wrapped by errors about a setting that a verl version has no
// counterpart of.
var ErrUnsupported = errors.New("verl has no counterpart")

// Options are what the recipe does not say.
type Options struct {
	Version   string   // one of Versions
	Overrides []string // Hydra overrides on top: key=value, +key=value, ++key=value, ~key
	Patches   []string // patch files for the installed verl, the user's own
}

// Plan is a recipe in the words of one verl version.
type Plan struct {
	Version   string
	Config    string     // the Hydra configuration's name: ppo_trainer, sft_trainer …
	Module    string     // the Python module that is run
	Launcher  []string   // what runs it, without the module: python3 -m, torchrun …
	Overrides []Override // in the order of the command line
	Env       []Variable
	Tools     []byte // tool_config.yaml; nil without tools
	Patches   []string
	Notes     []string // what the user should know: where verl differs from the recipe
	Nodes     int
	Devices   int
	Device    string // npu or cuda
}

// Variable is an environment variable of the run.
type Variable struct{ Name, Value string }

// SFT plans supervised fine-tuning: fsdp_sft_trainer where the version still has
// it, else its successor sft_trainer.
func SFT(r preset.SFT, o Options) (Plan, error) {
	keys, err := loadKeys(o.Version)
	if err != nil {
		return Plan{}, err
	}
	b := builder{keys: keys, plan: Plan{
		Version: o.Version, Patches: o.Patches,
		Nodes: r.Verl.Nodes, Devices: r.Verl.Devices, Device: r.Verl.Device,
	}}
	b.sft(r)
	return b.finish(o)
}

// RL plans reinforcement learning by main_ppo.
func RL(r preset.RL, o Options) (Plan, error) {
	keys, err := loadKeys(o.Version)
	if err != nil {
		return Plan{}, err
	}
	b := builder{keys: keys, plan: Plan{
		Version: o.Version, Patches: o.Patches,
		Nodes: r.Verl.Nodes, Devices: r.Verl.Devices, Device: r.Verl.Device,
	}}
	b.rl(r)
	return b.finish(o)
}

// builder collects a plan; its first error sticks.
type builder struct {
	keys *keyTable
	plan Plan
	err  error
}

// set adds the override of the first of keys that this version has and reads;
// the keys are one setting's names through the versions.
func (b *builder) set(value any, keys ...string) {
	for _, key := range keys {
		if b.keys.reads(b.plan.Config, key) {
			b.add(Override{Key: key, Value: value})
			return
		}
	}
	b.fail("%s: %w in %s: no key of that version is read", keys[0], ErrUnsupported, b.plan.Version)
}

// setWhere adds an override where this version has and reads the key.
func (b *builder) setWhere(value any, key string) {
	if b.keys.reads(b.plan.Config, key) {
		b.add(Override{Key: key, Value: value})
	}
}

// append adds a key that the configuration does not have yet.
func (b *builder) append(value any, key string) {
	b.add(Override{Add: true, Key: key, Value: value})
}

func (b *builder) add(o Override) { b.plan.Overrides = append(b.plan.Overrides, o) }

func (b *builder) env(name, value string) {
	b.plan.Env = append(b.plan.Env, Variable{name, value})
}

func (b *builder) note(format string, args ...any) {
	b.plan.Notes = append(b.plan.Notes, fmt.Sprintf(format, args...))
}

func (b *builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

// finish adds the user's overrides and checks all keys.
func (b *builder) finish(o Options) (Plan, error) {
	if b.err != nil {
		return Plan{}, b.err
	}
	for _, text := range o.Overrides {
		override, err := ParseOverride(text)
		if err != nil {
			return Plan{}, err
		}
		// Hydra takes the last of two; one line a key is easier to read.
		b.plan.Overrides = slices.DeleteFunc(b.plan.Overrides, func(old Override) bool {
			return old.Key == override.Key && !override.Add
		})
		b.add(override)
	}
	for _, override := range b.plan.Overrides {
		if text := override.String(); strings.IndexFunc(text, unicode.IsControl) >= 0 {
			return Plan{}, fmt.Errorf("%q: want one line without control characters", text)
		}
		if err := b.keys.check(b.plan.Config, override); err != nil {
			return Plan{}, fmt.Errorf("%s: %w", override, err)
		}
	}
	return b.plan, nil
}

// model is a recipe's model as Hugging Face names it.
func (b *builder) model(path string) string {
	name, onHub := strings.CutPrefix(path, "hub:")
	if repo, revision, pinned := strings.Cut(name, "@"); onHub && pinned {
		b.fail("model %s: verl takes no revision; fetch it with cr download %s --revision %s --dir DIR and name that folder", path, repo, revision)
	}
	if strings.HasSuffix(strings.ToLower(path), ".gguf") {
		b.fail("model %s: verl reads no GGUF; name a folder in Hugging Face layout, or hub:ORG/NAME", path)
	}
	return name
}

// table is a data file that verl can read.
func (b *builder) table(key, path string) string {
	if !strings.HasSuffix(path, ".parquet") || strings.HasPrefix(path, "hub:") {
		b.fail("%s %s: verl reads parquet files; name one that ends in .parquet", key, path)
	}
	return path
}
