package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coderl/cr/eval"
	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/runtime/shipped"
)

// stepsFlags choose among the checkpoints of a training run.
type stepsFlags struct {
	Steps    []int  `placeholder:"N" help:"Of a training run: evaluate these steps (default: every checkpoint)."`
	Every    int    `placeholder:"K" help:"Of a training run: evaluate the steps that K divides, and the last."`
	Baseline string `placeholder:"MODEL" help:"Before a training run's first step: this model, as step 0; most often the one that training began from."`
}

func (f stepsFlags) validate() error {
	switch {
	case f.Every < 0:
		return fmt.Errorf("--every %d: want 1 or more", f.Every)
	case f.Every > 0 && len(f.Steps) > 0:
		return errors.New("--steps and --every choose the same thing; give one")
	case slices.ContainsFunc(f.Steps, func(n int) bool { return n < 1 }):
		return fmt.Errorf("--steps %v: want numbers of 1 or more; step 0 is --baseline MODEL", f.Steps)
	}
	return nil
}

// choose picks from the steps that there are, ascending and at least one.
func (f stepsFlags) choose(there []int) ([]int, error) {
	for _, n := range f.Steps {
		if !slices.Contains(there, n) {
			return nil, usagef("--steps %d: no such checkpoint; there are steps %s", n, listed(there))
		}
	}
	last := there[len(there)-1]
	return slices.DeleteFunc(slices.Clone(there), func(n int) bool {
		switch {
		case len(f.Steps) > 0:
			return !slices.Contains(f.Steps, n)
		case f.Every > 0:
			return n%f.Every != 0 && n != last
		}
		return false
	}), nil
}

// listed is a list of steps with its middle left out where it is long.
func listed(steps []int) string {
	const most = 8
	words := make([]string, 0, most)
	for i, n := range steps {
		switch {
		case len(steps) <= most || i < most-2 || i == len(steps)-1:
			words = append(words, strconv.Itoa(n))
		case i == most-2:
			words = append(words, "…")
		}
	}
	return strings.Join(words, ", ")
}

// series is the evaluation of a training run's checkpoints.
type series struct {
	flags *livecodebenchCmd
	steps []int // ascending; 0 is the baseline
}

// series is nil where --model is not the folder of a training run.
func (l *livecodebenchCmd) series(c *console) (*series, error) {
	isRun, err := l.isTrainingRun()
	switch {
	case err != nil:
		return nil, err
	case !isRun && (len(l.Steps) > 0 || l.Every > 0 || l.Baseline != ""):
		return nil, usagef("--steps, --every and --baseline go with --model DIR, the folder of a training run (global_step_N/ in it)")
	case !isRun:
		return nil, nil
	}
	s := &series{flags: l}
	evaluated, err := s.evaluated()
	if err != nil {
		return nil, err
	}
	there, err := checkpoint.Steps(l.Model)
	if err != nil {
		return nil, err
	}
	there = append(there, slices.DeleteFunc(slices.Clone(evaluated), func(n int) bool { return n == 0 })...)
	slices.Sort(there)
	if s.steps, err = l.choose(slices.Compact(there)); err != nil {
		return nil, err
	}
	if l.Baseline != "" || slices.Contains(evaluated, 0) {
		s.steps = append([]int{0}, s.steps...)
	}
	c.note("%s is a training run: %d models to evaluate, of steps %s", l.Model, len(s.steps), listed(s.steps))
	return s, nil
}

// isTrainingRun tells the folder of a training run, which has checkpoints and no
// model of its own.
func (l *livecodebenchCmd) isTrainingRun() (bool, error) {
	if l.Endpoint != "" || l.Samples != "" || l.Model == "" || shipped.Has(shipped.FS(), l.Model) {
		return false, nil
	}
	if info, err := os.Stat(l.Model); err != nil || !info.IsDir() || exists(l.Model, "config.json") {
		return false, nil // what is no model either is told of when it is opened
	}
	steps, err := checkpoint.Steps(l.Model)
	switch {
	case err != nil:
		return false, err
	case len(steps) > 0:
		return true, nil
	case exists(l.Model, checkpoint.RecipeFile):
		return false, usagef("model %s: a training run without a checkpoint yet; train.save_every of its recipe says when the first one comes", l.Model)
	}
	return false, usagef("model %s: neither a model (no config.json in it) nor a training run (no global_step_N/ in it)", l.Model)
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// evaluated are the steps whose evaluation in --out has ended, ascending. They
// count also where their checkpoint is gone: training keeps the newest few. A
// folder with runs is refused unless it is resumed.
func (s *series) evaluated() ([]int, error) {
	out := s.flags.Out
	if hasRun(out) {
		return nil, usagef("run folder %s: holds the run of a single model; choose another folder for those of a training run (--out)", out)
	}
	entries, err := os.ReadDir(out)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var steps []int
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), "step_")
		n, err := strconv.Atoi(text)
		if !ok || err != nil || n < 0 || filepath.Base(s.folder(n)) != e.Name() || !hasRun(s.folder(n)) {
			continue
		}
		if !s.flags.Resume {
			return nil, usagef("run folder %s %w: resume it, or choose another folder (--resume, --out)", s.folder(n), eval.ErrRunExists)
		}
		if exists(s.folder(n), "results.json") {
			steps = append(steps, n)
		}
	}
	slices.Sort(steps)
	return steps, nil
}

// folder is the run folder of a step.
func (s *series) folder(step int) string {
	return filepath.Join(s.flags.Out, "step_"+strconv.Itoa(step))
}

// model is what --model would be for a step, "" where it is there no more.
func (s *series) model(step int) (string, error) {
	if step == 0 {
		return s.flags.Baseline, nil
	}
	dir := checkpoint.Step(s.flags.Model, step)
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return modelIn(dir)
}

// modelIn is where a checkpoint's model lies: in the folder itself as cr writes
// it, or where verl puts one for whose checkpoints hf_model was asked.
func modelIn(dir string) (string, error) {
	for _, place := range []string{".", "actor/huggingface", "huggingface"} {
		folder := filepath.Join(dir, place)
		found, err := holdsModel(folder)
		if err != nil || found {
			return folder, err
		}
	}
	for _, place := range []string{dir, filepath.Join(dir, "actor")} {
		if exists(place, "fsdp_config.json") {
			return "", usagef("%s: shards of FSDP training; make models of them (cr merge %s --out MERGED/%s) and evaluate the folder MERGED", dir, place, filepath.Base(dir))
		}
	}
	return "", usagef("%s: no model (config.json and .safetensors) in the checkpoint", dir)
}

func holdsModel(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	config, weights := false, false
	for _, e := range entries {
		config = config || e.Name() == "config.json"
		weights = weights || strings.HasSuffix(e.Name(), ".safetensors")
	}
	return config && weights, err
}

// run evaluates the steps one after another and writes what they come to.
func (s *series) run(ctx context.Context, c *console, b bench) error {
	var runs []eval.StepRun
	pace := pace{left: len(s.steps)}
	for _, n := range s.steps {
		done, err := s.evaluate(ctx, c, b, n, &pace)
		switch {
		case ctx.Err() != nil && !errors.Is(err, eval.ErrInterrupted):
			return fmt.Errorf("%w with %d of %d steps done (--resume --out %s)", eval.ErrInterrupted, len(runs), len(s.steps), s.flags.Out)
		case err != nil:
			return fmt.Errorf("step %d: %w", n, err)
		case done:
			runs = append(runs, eval.StepRun{Step: n, Path: s.folder(n)})
		}
	}
	if len(runs) == 0 {
		return fmt.Errorf("%s: its checkpoints were removed before they could be evaluated", s.flags.Model)
	}
	table, err := eval.LoadSteps(runs)
	if err != nil {
		return badInput(err)
	}
	if err := writeSteps(s.flags.Out, table); err != nil {
		return err
	}
	if err := c.result(table, stepsText(c, s.flags.Out, table)); err != nil {
		return err
	}
	infra := 0
	for _, step := range table.Steps {
		infra += step.InfraErrors
	}
	return s.flags.infra(infra)
}

// evaluate runs a step's model into its run folder and says what it scored; done
// is false where there is no model, and no results from when there was one. A run
// that has ended is opened again, which costs no sample: weights and settings
// must be those that it was made with.
func (s *series) evaluate(ctx context.Context, c *console, b bench, step int, pace *pace) (done bool, err error) {
	model, err := s.model(step)
	if err != nil {
		return false, err
	}
	ended := exists(s.folder(step), "results.json")
	if model == "" {
		pace.left--
		if ended {
			c.note("step %d: no model there now; its evaluation in %s counts", step, s.folder(step))
		} else {
			c.note("step %d: the checkpoint is there no more; left out", step)
		}
		return ended, nil
	}
	if !ended {
		c.note("step %d: %s", step, model)
	}
	one := *s.flags
	one.Model, one.Out = model, s.folder(step)
	started := time.Now()
	results, err := one.evaluate(ctx, c, b, s.flags.Out)
	if err != nil {
		return false, err
	}
	pace.done(time.Since(started), ended)
	p := results.PassAtK["1"]
	c.note("step %d: pass@1 %.1f %%, 95 %%: %.1f to %.1f %%%s", step, 100*p.Value, 100*p.Low, 100*p.High, pace)
	return true, nil
}

// pace forecasts the time of the models that are left by those that were
// evaluated in this session.
type pace struct {
	left, timed int
	took        time.Duration
}

func (p *pace) done(took time.Duration, before bool) {
	p.left--
	if !before {
		p.took += took
		p.timed++
	}
}

// String is empty where nothing is left or nothing known.
func (p *pace) String() string {
	if p.left == 0 || p.timed == 0 {
		return ""
	}
	rest := p.took / time.Duration(p.timed) * time.Duration(p.left)
	return fmt.Sprintf("; %d to go, about %s", p.left, cmp.Or(rest.Round(time.Second), time.Second))
}
