package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/recipes/verl"
)

type trainRLCmd struct {
	Recipe string   `required:"" placeholder:"NAME|FILE" help:"A preset (code-rl) or a YAML file."`
	Model  string   `placeholder:"MODEL" help:"What is trained, instead of the recipe's: a folder in Hugging Face layout, or hub:ORG/NAME."`
	Data   string   `placeholder:"FILE" help:"Problems instead of the recipe's."`
	Out    string   `placeholder:"DIR" help:"Run folder, instead of the recipe's."`
	Steps  int      `help:"Stop after this many steps in all (default: the recipe's)."`
	Set    []string `sep:"none" placeholder:"KEY=VALUE" help:"Change a key of the recipe, such as rollout.group=16; may be given several times."`
	Engine string   `enum:"verl" required:"" help:"What trains: verl, on Ray."`
	DryRun bool     `help:"Compose verl's configuration with Hydra and print it, and run nothing."`
	Print  bool     `help:"Print all that is run, and run nothing."`

	Verl verlFlags `embed:""`
}

// Help is shown below the flags.
func (trainRLCmd) Help() string {
	return `Examples:
  cr train rl --recipe code-rl --engine verl --print
  cr train rl --recipe code-rl --engine verl --verl-version 0.7.0 --dry-run --verl-python venv/bin/python
  cr train rl --recipe code-rl --engine verl --set verl.nodes=4 --ray-address http://head:8265

Writes DIR/verl/ with run.sh, the tool configuration, Ray's runtime environment
and a Python module with the reward and the code interpreter, which use
cr sandbox serve; docs/verl.md.`
}

// Validate is called by Kong after parsing.
func (t *trainRLCmd) Validate() error {
	if t.Steps < 0 {
		return fmt.Errorf("--steps %d: want 1 or more", t.Steps)
	}
	return t.Verl.validate(t.Engine)
}

// Run takes the recipe to verl.
func (t *trainRLCmd) Run(ctx context.Context, c *console) error {
	recipe, err := t.recipe()
	if err != nil {
		return badInput(err)
	}
	plan, err := verl.RL(recipe, t.Verl.options())
	if err != nil {
		return badInput(err)
	}
	folder := filepath.Join(recipe.Train.Out, "verl")
	return verlRun{verlFlags: t.Verl, folder: folder, print: t.Print, dryRun: t.DryRun}.do(ctx, c, plan)
}

// recipe is the recipe with all flags and settings; its paths are absolute, for
// the run has another working directory.
func (t *trainRLCmd) recipe() (preset.RL, error) {
	r, err := preset.LoadRL(t.Recipe, nil)
	if errors.Is(err, preset.ErrKind) {
		return r, fmt.Errorf("%w (cr train sft)", err)
	}
	if err != nil {
		return r, err
	}
	if t.Model != "" {
		r.Model.Path = t.Model
	}
	if t.Data != "" {
		r.Data.Train = t.Data
	}
	if t.Out != "" {
		r.Train.Out = t.Out
	}
	if t.Steps > 0 {
		r.Train.Steps = t.Steps
	}
	if err := preset.Set(&r, t.Set); err != nil {
		return r, err
	}
	for _, path := range []*string{&r.Model.Path, &r.Spec.Draft, &r.Data.Train, &r.Data.Validation, &r.Train.Out} {
		if *path, err = absolute(*path); err != nil {
			return r, err
		}
	}
	return r, r.Check()
}
