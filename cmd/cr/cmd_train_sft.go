package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/coderl/cr/recipes/preset"
)

type trainSFTCmd struct {
	Recipe   string   `placeholder:"NAME|FILE" help:"A preset (toolcall-sft, tiny-sft) or a YAML file; with --resume, the one kept in --out if none is named."`
	Model    string   `placeholder:"MODEL" help:"What is trained, instead of the recipe's: a folder in Hugging Face layout, a .gguf file, hub:ORG/NAME[@REV], or one shipped inside cr (tiny, tiny-rl)."`
	Data     string   `placeholder:"FILE|DIR|hub:…" help:"Conversations instead of the recipe's. They validate too where the recipe has the same for both; else it takes data.validation."`
	Out      string   `placeholder:"DIR" help:"Run folder, instead of the recipe's."`
	Steps    int      `help:"Stop after this many steps in all, also with --resume (default: the recipe's)."`
	Set      []string `sep:"none" placeholder:"KEY=VALUE" help:"Change a key of the recipe, such as optim.lr=2e-5; may be given several times."`
	LossNorm string   `enum:"recipe,token,verl" default:"recipe" help:"The loss is the mean over a step's loss tokens (token), or over its micro-batches of their means (verl)."`
	Keep     *int     `help:"Newest checkpoints to keep, beside the best; 0 keeps all (default: the recipe's)."`
	Resume   bool     `help:"Go on with the run in the folder, to the same bits as if it had never stopped."`
	Print    bool     `help:"Print the recipe with all settings, and train nothing."`
	Threads  int      `help:"Compute threads (default: one a core)."`
	DryRun   bool     `help:"Say what the run would take, and train nothing; with --engine verl, compose its configuration with Hydra."`
	Engine   string   `enum:"embedded,verl" default:"embedded" help:"What trains: cr itself, or verl."`

	Cache cacheFlags `embed:""`
	Verl  verlFlags  `embed:""`
}

// Help is shown below the flags.
func (trainSFTCmd) Help() string {
	return `Examples:
  cr train sft --recipe toolcall-sft --model Qwen3-1.7B/ --data toolcall_sft.parquet --out runs/sft
  cr train sft --recipe toolcall-sft --set model.lora.rank=16 --set optim.lr=2e-4 --dry-run
  cr train sft --recipe toolcall-sft --engine verl --print
  cr train sft --out runs/sft --resume

Writes DIR/global_step_N/ (a model in Hugging Face layout, with what a resumed
run needs), metrics.jsonl, TensorBoard events, and a console line a step. Keys,
files and policies: docs/training.md.`
}

// Validate is called by Kong after parsing.
func (t *trainSFTCmd) Validate() error {
	switch {
	case t.Recipe == "" && (!t.Resume || t.Out == ""):
		return errors.New("--recipe: name a preset (toolcall-sft, tiny-sft) or a YAML file, or go on with a run by --out DIR --resume")
	case t.Steps < 0:
		return fmt.Errorf("--steps %d: want 1 or more", t.Steps)
	case t.Keep != nil && *t.Keep < 0:
		return fmt.Errorf("--keep %d: want 0 or more", *t.Keep)
	case t.Threads < 0 || t.Threads > mostThreads:
		return fmt.Errorf("--threads %d: want 1 to %d", t.Threads, mostThreads)
	}
	return t.Verl.validate(t.Engine)
}

// Run trains.
func (t *trainSFTCmd) Run(ctx context.Context, c *console) error {
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
	job, err := t.prepare(ctx, c, recipe)
	if err != nil {
		return err
	}
	defer job.close()
	if t.DryRun {
		return job.dryRun(ctx, c)
	}
	return job.train(ctx, c)
}

// printRecipe prints a recipe of any kind with all its keys.
func printRecipe(c *console, recipe any) error {
	text, err := preset.YAML(recipe)
	if err != nil {
		return err
	}
	_, err = c.out.Write(text)
	return err
}

// recipe is the recipe with all flags and settings.
func (t *trainSFTCmd) recipe() (preset.SFT, error) {
	name, err := recipeName(t.Recipe, t.Out)
	if err != nil {
		return preset.SFT{}, err
	}
	r, err := preset.LoadSFT(name, nil)
	if errors.Is(err, preset.ErrKind) {
		return r, fmt.Errorf("%w (cr train rl)", err)
	}
	if err != nil {
		return r, err
	}
	t.apply(&r)
	if err := preset.Set(&r, t.Set); err != nil {
		return r, err
	}
	return r, r.Check()
}

// apply has the flags replace the recipe's keys; --set comes after, and wins.
func (t *trainSFTCmd) apply(r *preset.SFT) {
	if t.Model != "" {
		r.Model.Path, r.Model.New = t.Model, nil
	}
	if t.Data != "" {
		if r.Data.Validation == r.Data.Train {
			r.Data.Validation = t.Data
		} else {
			r.Data.Validation = ""
		}
		r.Data.Train = t.Data
	}
	if t.Out != "" {
		r.Train.Out = t.Out
	}
	if t.LossNorm != "recipe" {
		r.Loss.Norm = t.LossNorm
	}
	if t.Keep != nil {
		r.Train.Keep = *t.Keep
	}
}
