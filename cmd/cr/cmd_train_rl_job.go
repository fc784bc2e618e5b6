package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/datasets/rl"
	"github.com/coderl/cr/internal/amount"
	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/recipes/grpo"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/recipes/reward"
	"github.com/coderl/cr/runtime"
	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/train"
)

// rlJob is all that a run needs before its first step.
type rlJob struct {
	flags      *trainRLCmd
	recipe     preset.RL
	folder     string // of the model to begin from
	config     model.Config
	stored     int64 // bytes of the weights as they are stored
	training   datasets.Set
	validation datasets.Set
	left       int // problems that were too long
	plan       grpo.Plan
}

// prepare finds the model and reads the problems.
func (t *trainRLCmd) prepare(ctx context.Context, c *console, r preset.RL) (*rlJob, error) {
	j := &rlJob{flags: t, recipe: r}
	var err error
	if j.folder, err = (modelFlags{Model: r.Model.Path, Cache: t.Cache}).path(ctx, c); err != nil {
		return nil, fmt.Errorf("model.path: %w", err)
	}
	text, err := examples.OpenModel(j.folder)
	if err != nil {
		return nil, badInput(fmt.Errorf("model.path: %w", err))
	}
	defer text.Close()
	if j.config, j.stored, err = readModel(j.folder); err != nil {
		return nil, err
	}
	if longest := r.Data.MaxPrompt + r.Rollout.MaxResponse; longest > j.config.Context {
		c.note("data.max_prompt and rollout.max_response together are beyond the model's context of %d; answers that reach it are truncated", j.config.Context)
	}
	if j.training, j.left, err = t.problems(ctx, c, text, r, "data.train", r.Data.Train); err != nil {
		return nil, err
	}
	if r.Data.Validation != "" {
		if j.validation, _, err = t.problems(ctx, c, text, r, "data.validation", r.Data.Validation); err != nil {
			return nil, err
		}
	}
	j.plan, err = grpo.NewPlan(r, len(j.training.Problems), t.Steps)
	return j, badInput(err)
}

// problems reads a set and leaves out what the recipe does.
func (t *trainRLCmd) problems(ctx context.Context, c *console, text *chat.Model, r preset.RL, key, name string) (datasets.Set, int, error) {
	set, err := t.read(ctx, c, key, name)
	if err != nil {
		return set, 0, err
	}
	set, left, err := grpo.Fit(ctx, set, text, r)
	switch {
	case errors.Is(err, grpo.ErrOverLong):
		return set, 0, usagef("%s: %w (--set data.over_long=drop, or data.max_prompt)", key, err)
	case errors.Is(err, chat.ErrNoTemplate):
		return set, 0, usagef("%s: %w", key, err)
	case err != nil:
		return set, 0, fmt.Errorf("%s: %w", key, err)
	case len(set.Problems) == 0:
		return set, 0, usagef("%s: all %d problems are longer than data.max_prompt %d", key, left, r.Data.MaxPrompt)
	}
	c.note("%s: %s; dropped %d: prompt longer than %s", key, amount.Of(len(set.Problems), "problem"), left, amount.Of(r.Data.MaxPrompt, "token"))
	return set, left, t.judgeable(c, set, key, r.Reward.Own != "" && key == "data.train")
}

// judgeable refuses a set of which no problem has tests, unless something else
// judges it.
func (t *trainRLCmd) judgeable(c *console, set datasets.Set, key string, otherwise bool) error {
	bare := 0
	for _, p := range set.Problems {
		if len(p.Tests) == 0 {
			bare++
		}
	}
	switch {
	case bare == 0 || otherwise:
	case bare == len(set.Problems):
		return usagef("%s: none of its %s has tests: take others, or judge by a reward of your own (reward.own)", key, amount.Of(bare, "problem"))
	default:
		c.note("%s: %d of %d problems have no tests, and cannot be judged", key, bare, len(set.Problems))
	}
	return nil
}

// read reads problems in any of their forms.
func (t *trainRLCmd) read(ctx context.Context, c *console, key, name string) (datasets.Set, error) {
	if slices.Contains(datasets.ShippedNames(), name) {
		return datasets.Shipped(name)
	}
	files, err := t.Cache.dataFiles(ctx, c, givenAs(key, name, t.Data), name)
	if errors.Is(err, fs.ErrNotExist) && !strings.HasPrefix(name, "hub:") {
		return datasets.Set{}, usagef("%w, and none of that name is shipped inside cr (%s)", err, strings.Join(datasets.ShippedNames(), ", "))
	}
	if err != nil {
		return datasets.Set{}, err
	}
	bench, err := isBenchmark(files)
	if err != nil {
		return datasets.Set{}, err
	}
	if bench {
		set, err := datasets.LoadLiveCodeBench(ctx, datasets.Source{Path: files[0]}, datasets.Options{})
		return set, badInput(err)
	}
	set, err := rl.Load(ctx, files)
	if err != nil && ctx.Err() == nil {
		err = badInput(fmt.Errorf("%s: %w", key, err))
	}
	return set, err
}

// isBenchmark tells a file in LiveCodeBench's schema by its first line.
func isBenchmark(files []string) (bool, error) {
	if len(files) != 1 || !strings.HasSuffix(files[0], ".jsonl") {
		return false, nil
	}
	f, err := os.Open(files[0])
	if err != nil {
		return false, err
	}
	defer f.Close()
	const enough = 4 << 20 // for a line; question_id stands near its beginning or its end
	line, err := bufio.NewReaderSize(f, enough).ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return false, err
	}
	return bytes.Contains(line, []byte(`"question_id"`)), nil
}

func (j *rlJob) threads() int { return cmp.Or(j.flags.Threads, goruntime.NumCPU()) }

// options are the trainer's.
func (j *rlJob) options() train.Options {
	return trainerOptions(j.recipe.Model, preset.Optim(j.recipe.Optim), j.threads(), j.recipe.Seed)
}

// open makes the policy, as the recipe begins or as a checkpoint left it.
func (j *rlJob) open(ctx context.Context, saved string) (*train.Trainer, error) {
	return openTrainer(ctx, j.folder, j.options(), saved)
}

// openReference makes the frozen copy of what the recipe begins from.
func (j *rlJob) openReference(ctx context.Context) (*train.Trainer, error) {
	o := modelOptions(j.recipe.Model)
	o.Threads, o.Frozen, o.LoRA = j.threads(), true, nil
	return train.Open(ctx, j.folder, o)
}

// microTokens bounds the tokens that are computed at once.
func (j *rlJob) microTokens() int {
	longest := min(j.recipe.Data.MaxPrompt+j.recipe.Rollout.MaxResponse, j.config.Context)
	return max(j.recipe.Batch.Tokens, longest)
}

// cacheBytes is the engine's key/value cache: for all conversations at their
// longest, or half of what training leaves free.
func (j *rlJob) cacheBytes(free int64) int64 {
	longest := min(j.recipe.Data.MaxPrompt+j.recipe.Rollout.MaxResponse, j.config.Context)
	pages := (longest + tensor.PageSize - 1) / tensor.PageSize * cmp.Or(j.flags.Concurrency, answersAtOnce(j.recipe))
	return max(j.config.PageBytes(), min(int64(pages)*j.config.PageBytes(), free/2))
}

// answersAtOnce is how many conversations run at once when no flag says so.
func answersAtOnce(r preset.RL) int { return min(64, r.Rollout.Prompts*r.Rollout.Group) }

// memory is what training takes: the policy's, and a frozen reference; and what
// the process holds before it.
func (j *rlJob) memory() (train.Memory, error) {
	m, err := train.PlanMemory(j.config, j.options(), j.stored, j.microTokens())
	m = m.WithProcess(runtime.ProcessMemory())
	if err == nil && j.recipe.GRPO.KLCoef != 0 && j.recipe.Model.LoRA.Rank == 0 {
		m.Weights += j.stored
	}
	return m, err
}

// train runs the recipe.
func (j *rlJob) train(ctx context.Context, c *console) error {
	memory, err := j.memory()
	if err != nil {
		return err
	}
	free := runtime.FreeMemory()
	if err := memory.Fits(free); err != nil {
		return err
	}
	run, err := j.run(ctx)
	if err != nil {
		return err
	}
	executor, err := j.flags.open(ctx, c)
	if err != nil {
		return err
	}
	defer executor.Close()
	bar := newTrainProgress(c)
	run.Executor, run.Judges, run.CacheBytes = executor, judgesFor(executor), j.cacheBytes(free-memory.More())
	run.Console, run.Note = bar, bar.note
	run.Progress = func(p grpo.Progress) { bar.at(p.Step, p.Last, p.Share, rlFigures(p)) }
	result, err := grpo.Run(ctx, run)
	bar.end()
	if err != nil {
		return rlError(err)
	}
	return c.result(result, func(w io.Writer) error { return describeRL(w, result) })
}

// run is the run's configuration, without what it runs programs with and shows.
func (j *rlJob) run(ctx context.Context) (grpo.Config, error) {
	// A checkpoint has all weights that are trained; not those of a reference.
	r := j.recipe
	base, err := train.Identify(ctx, j.folder, j.options(), r.Model.LoRA.Rank > 0 || r.GRPO.KLCoef != 0)
	return grpo.Config{
		Recipe: r, Version: version, Threads: j.threads(), Steps: j.flags.Steps, Resume: j.flags.Resume, Base: checkpoint.Base(base),
		Train: j.training, Validation: j.validation, Open: j.open, Reference: j.openReference,
		Concurrency: cmp.Or(j.flags.Concurrency, answersAtOnce(r)),
	}, err
}

// rlError is trainError, and knows of a reward of one's own.
func rlError(err error) error {
	if errors.Is(err, reward.ErrBroken) {
		return badInput(err)
	}
	return trainError(err)
}

// rlFigures is what a step at work has come to, as far as known.
func rlFigures(p grpo.Progress) string {
	text := fmt.Sprintf("%s %.0f %%", p.Stage, 100*p.Share)
	if p.Of > 0 {
		text += fmt.Sprintf(", %d/%d answers", p.Done, p.Of)
	}
	if !math.IsNaN(p.Score) && p.Done > 0 {
		text += fmt.Sprintf(", score %.3f, %.0f tokens, %.1f turns", p.Score, p.Length, p.Turns)
	}
	if p.Left > 0 {
		text += fmt.Sprintf(", %s left", p.Left.Round(time.Second))
	}
	return text
}

func describeRL(w io.Writer, r grpo.Result) error {
	fmt.Fprintf(w, "%s, %s", amount.Of(r.Steps, "step"), amount.Of(r.Tokens, "token"))
	if r.Score != nil {
		fmt.Fprintf(w, ", score %.3f", *r.Score)
	}
	if r.PassAt1 != nil {
		fmt.Fprintf(w, ", pass@1 %.1f %%", 100**r.PassAt1)
	}
	fmt.Fprintf(w, "\n%s\n", r.Checkpoint)
	if r.Best != "" && r.Best != r.Checkpoint {
		fmt.Fprintf(w, "best: %s\n", filepath.Base(r.Best))
	}
	return nil
}
