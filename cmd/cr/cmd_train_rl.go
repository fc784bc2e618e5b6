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
	Recipe string   `placeholder:"NAME|FILE" help:"A preset (code-rl, tiny-rl) or a YAML file; with --resume, the one kept in --out if none is named."`
	Model  string   `placeholder:"MODEL" help:"What is trained, instead of the recipe's: a folder in Hugging Face layout, a .gguf file, hub:ORG/NAME[@REV], or one shipped inside cr (tiny, tiny-rl)."`
	Data   string   `placeholder:"FILE|DIR|NAME|hub:…" help:"Problems instead of the recipe's: parquet of cr build-dataset, LiveCodeBench's JSONL, or a set shipped inside cr (tiny-practice)."`
	Out    string   `placeholder:"DIR" help:"Run folder, instead of the recipe's."`
	Steps  int      `help:"Stop after this many steps in all, also with --resume (default: the recipe's)."`
	Set    []string `sep:"none" placeholder:"KEY=VALUE" help:"Change a key of the recipe, such as rollout.group=16; may be given several times."`
	Resume bool     `help:"Go on with the run in the folder, to the same bits as if it had never stopped."`
	Engine string   `enum:"embedded,verl" default:"embedded" help:"What trains: cr itself, or verl on Ray."`
	DryRun bool     `help:"Say what the run would take, and train nothing; with --engine verl, compose its configuration with Hydra."`
	Print  bool     `help:"Print the recipe with all settings, or all that verl is given, and run nothing."`

	Threads     int `help:"Compute threads (default: one a core)."`
	Concurrency int `help:"Conversations at a time (default: 64)."`

	executorFlags `embed:""`
	Cache         cacheFlags `embed:""`
	Verl          verlFlags  `embed:""`
}

// Help is shown below the flags.
func (trainRLCmd) Help() string {
	return `Examples:
  cr train rl --recipe tiny-rl --out runs/rl
  cr train rl --recipe code-rl --model runs/sft/global_step_50 --data train.parquet --dry-run
  cr train rl --out runs/rl --resume
  cr train rl --recipe code-rl --engine verl --set verl.nodes=4 --ray-address http://head:8265

Writes DIR/global_step_N/ (a model in Hugging Face layout, with what a resumed
run needs), rollouts/N.jsonl (the answers of step N), eval/global_step_N/ (a run
folder of cr eval for each validation), metrics.jsonl, TensorBoard events, and a
console line a step; docs/training.md. With --engine verl: DIR/verl/; docs/verl.md.`
}

// Validate is called by Kong after parsing; it hides those of the embedded flags.
func (t *trainRLCmd) Validate() error {
	switch {
	case t.Recipe == "" && (!t.Resume || t.Out == ""):
		return errors.New("--recipe: name a preset (code-rl, tiny-rl) or a YAML file, or go on with a run by --out DIR --resume")
	case t.Steps < 0:
		return fmt.Errorf("--steps %d: want 1 or more", t.Steps)
	case t.Threads < 0 || t.Threads > mostThreads:
		return fmt.Errorf("--threads %d: want 1 to %d", t.Threads, mostThreads)
	case t.Concurrency < 0 || t.Concurrency > mostSequences:
		return fmt.Errorf("--concurrency %d: want 1 to %d", t.Concurrency, mostSequences)
	}
	return errors.Join(t.executorFlags.Validate(), t.Verl.validate(t.Engine))
}

// Run trains, or takes the recipe to verl.
func (t *trainRLCmd) Run(ctx context.Context, c *console) error {
	recipe, err := t.recipe()
	if err != nil {
		return badInput(err)
	}
	if t.Engine == "verl" {
		return t.onVerl(ctx, c, recipe)
	}
	if t.Print {
		return printRecipe(c, recipe)
	}
	if recipe.Spec.Method != "none" {
		return usagef("spec.method %s: speculative decoding in training needs --engine verl", recipe.Spec.Method)
	}
	job, err := t.prepare(ctx, c, recipe)
	if err != nil {
		return err
	}
	if t.DryRun {
		return job.dryRun(ctx, c)
	}
	return job.train(ctx, c)
}

// onVerl takes the recipe to verl instead of training here; its paths are made
// absolute, for the run has another working directory.
func (t *trainRLCmd) onVerl(ctx context.Context, c *console, r preset.RL) error {
	if t.Resume {
		return usagef("--resume: verl goes on by itself from the last checkpoint in the run folder")
	}
	if t.Steps > 0 {
		r.Train.Steps = t.Steps
	}
	if err := modelForVerl(r.Model.Path); err != nil {
		return err
	}
	if err := absolutes(&r.Model.Path, &r.Spec.Draft, &r.Data.Train, &r.Data.Validation, &r.Train.Out); err != nil {
		return err
	}
	plan, err := verl.RL(r, t.Verl.options())
	if err != nil {
		return badInput(err)
	}
	folder := filepath.Join(r.Train.Out, "verl")
	return verlRun{verlFlags: t.Verl, folder: folder, print: t.Print, dryRun: t.DryRun}.do(ctx, c, plan)
}

// recipe is the recipe with all flags and settings; --set comes last, and wins.
func (t *trainRLCmd) recipe() (preset.RL, error) {
	name, err := recipeName(t.Recipe, t.Out)
	if err != nil {
		return preset.RL{}, err
	}
	r, err := preset.LoadRL(name, nil)
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
	if err := preset.Set(&r, t.Set); err != nil {
		return r, err
	}
	return r, r.Check()
}
