package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/recipes/verl"
	"github.com/coderl/cr/runtime/shipped"
)

// verlFlags are the flags of --engine verl.
type verlFlags struct {
	Version string   `name:"verl-version" placeholder:"VERSION" help:"--engine verl: the version that will run it (default: the newest known)."`
	Set     []string `name:"verl-set" sep:"none" placeholder:"KEY=VALUE" help:"--engine verl: an override of verl's own configuration, as Hydra has it; may be given several times."`
	Patch   []string `name:"verl-patch" sep:"none" placeholder:"FILE" help:"--engine verl: a patch for the installed verl, applied on each machine before the run; may be given several times."`
	Python  string   `name:"verl-python" placeholder:"PYTHON" help:"--engine verl: the Python that has verl, for --dry-run, and ray, to submit (default: python3 and ray of the PATH)."`
	Ray     string   `name:"ray-address" placeholder:"URL" help:"--engine verl: submit to the Ray cluster whose dashboard is there, http://HEAD:8265."`
}

// validate finds what no single flag can be blamed for.
func (v verlFlags) validate(engine string) error {
	given := v.Version != "" || len(v.Set) > 0 || len(v.Patch) > 0 || v.Python != "" || v.Ray != ""
	if given && engine != "verl" {
		return errors.New("--verl-version, --verl-set, --verl-patch, --verl-python and --ray-address go with --engine verl")
	}
	if v.Ray != "" && !strings.Contains(v.Ray, "://") {
		return fmt.Errorf("--ray-address %s: want the dashboard's address, http://HEAD:8265", v.Ray)
	}
	return nil
}

func (v verlFlags) options() verl.Options {
	version := v.Version
	if version == "" {
		version = verl.Newest()
	}
	return verl.Options{Version: version, Overrides: v.Set, Patches: v.Patch}
}

// verlRun is what becomes of a plan: it is printed, composed, or written and, with
// an address, submitted.
type verlRun struct {
	verlFlags
	folder string // where the bundle is written
	print  bool
	dryRun bool
}

func (r verlRun) do(ctx context.Context, c *console, plan verl.Plan) error {
	switch {
	case r.print:
		return badInput(plan.Print(c.out))
	case r.dryRun:
		return r.compose(ctx, c, plan)
	}
	for _, note := range plan.Notes {
		c.note("note: %s", note)
	}
	if err := plan.Write(r.folder); err != nil {
		return err
	}
	script := filepath.Join(r.folder, "run.sh")
	result := map[string]any{"verl": plan.Version, "module": plan.Module, "script": script, "notes": plan.Notes}
	shown := script
	if r.Ray != "" {
		c.note("submit %s to %s", r.folder, r.Ray)
		job, err := verl.Submit(ctx, r.Python, r.Ray, r.folder, c.err)
		if err != nil {
			return err
		}
		result["ray_address"], result["job"], shown = r.Ray, job, cmp.Or(job, script)
	} else {
		c.note("run it with: bash %s", script)
	}
	return c.result(result, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, shown)
		return err
	})
}

func (r verlRun) compose(ctx context.Context, c *console, plan verl.Plan) error {
	python := r.Python
	if python == "" {
		python = "python3"
	}
	composed, err := plan.Compose(ctx, python)
	if err != nil {
		return badInput(err)
	}
	c.note("verl %s composes %s with %d overrides; all their keys are read", plan.Version, plan.Config, len(plan.Overrides))
	_, err = c.out.Write(composed)
	return err
}

// absolutes makes paths those that other folders and machines see; empty ones and
// names of the hub stay.
func absolutes(paths ...*string) error {
	for _, path := range paths {
		if *path == "" || strings.HasPrefix(*path, "hub:") {
			continue
		}
		var err error
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	return nil
}

// modelForVerl refuses a model that only cr has.
func modelForVerl(name string) error {
	if shipped.Has(shipped.FS(), name) {
		return badInput(fmt.Errorf("model %s: it ships inside cr; verl needs a folder in Hugging Face layout, or hub:ORG/NAME", name))
	}
	return nil
}

// onVerl takes the recipe to verl instead of training here; its paths are made
// absolute, for run.sh may be started from anywhere.
func (t *trainSFTCmd) onVerl(ctx context.Context, c *console, recipe preset.SFT) error {
	switch {
	case t.Resume:
		return usagef("--resume: verl goes on by itself from the last checkpoint in the run folder")
	case t.Verl.Ray != "":
		return usagef("--ray-address: verl's fine-tuning starts by torchrun, not on Ray; run run.sh on each machine")
	}
	if t.Steps > 0 {
		recipe.Train.Steps = t.Steps
	}
	if err := modelForVerl(recipe.Model.Path); err != nil {
		return err
	}
	if err := absolutes(&recipe.Model.Path, &recipe.Data.Train, &recipe.Data.Validation, &recipe.Train.Out); err != nil {
		return err
	}
	plan, err := verl.SFT(recipe, t.Verl.options())
	if err != nil {
		return badInput(err)
	}
	folder := filepath.Join(recipe.Train.Out, "verl")
	return verlRun{verlFlags: t.Verl, folder: folder, print: t.Print, dryRun: t.DryRun}.do(ctx, c, plan)
}
