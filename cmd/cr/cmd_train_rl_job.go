package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/datasets/rl"
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
	c.note("%s: %d problems; dropped %d: prompt longer than %d tokens", key, len(set.Problems), left, r.Data.MaxPrompt)
	return set, left, nil
}

// read reads problems in any of their forms.
func (t *trainRLCmd) read(ctx context.Context, c *console, key, name string) (datasets.Set, error) {
	if slices.Contains(datasets.ShippedNames(), name) {
		return datasets.Shipped(name)
	}
	files, err := t.Cache.dataFiles(ctx, c, key, name)
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
	// A checkpoint has all weights that are trained; not those of a reference.
	r := j.recipe
	base, err := train.Identify(ctx, j.folder, j.options(), r.Model.LoRA.Rank > 0 || r.GRPO.KLCoef != 0)
	if err != nil {
		return err
	}
	executor, err := j.flags.open(ctx, c)
	if err != nil {
		return err
	}
	defer executor.Close()
	bar := newTrainProgress(c)
	result, err := grpo.Run(ctx, grpo.Config{
		Recipe: j.recipe, Version: version, Threads: j.threads(), Steps: j.flags.Steps, Resume: j.flags.Resume, Base: checkpoint.Base(base),
		Train: j.training, Validation: j.validation, Open: j.open, Reference: j.openReference, Executor: executor,
		Concurrency: cmp.Or(j.flags.Concurrency, answersAtOnce(j.recipe)), Judges: judgesFor(executor), CacheBytes: j.cacheBytes(free - memory.More()),
		Console: bar, Progress: func(p grpo.Progress) { bar.at(p.Step, p.Last, p.Share, rlFigures(p)) }, Note: bar.note,
	})
	bar.end()
	if errors.Is(err, reward.ErrBroken) {
		return badInput(err)
	}
	if err != nil {
		return trainError(err)
	}
	return c.result(result, func(w io.Writer) error { return describeRL(w, result) })
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
	fmt.Fprintf(w, "%d steps, %d tokens", r.Steps, r.Tokens)
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

// rlForecast is what --dry-run says.
type rlForecast struct {
	Trained      int64        `json:"trained"` // parameters
	Problems     int          `json:"problems"`
	Dropped      int          `json:"dropped"` // longer than data.max_prompt
	Validation   int          `json:"validation_problems"`
	Steps        int          `json:"steps"`
	StepsInEpoch int          `json:"steps_per_epoch"`
	Answers      int          `json:"answers_per_step"`
	Updates      int          `json:"updates_per_step"`
	MostTokens   int          `json:"most_tokens_per_step"` // sampled, if every answer were as long as it may
	MicroTokens  int          `json:"micro_tokens"`
	Memory       train.Memory `json:"memory"`
	MemoryTotal  int64        `json:"memory_total"`
	Cache        int64        `json:"cache"`
	MemoryFree   int64        `json:"memory_free"`
}

// dryRun says what the run would take. A run that does not fit is an error
// after that.
func (j *rlJob) dryRun(c *console) error {
	memory, err := j.memory()
	if err != nil {
		return err
	}
	r, free := j.recipe, runtime.FreeMemory()
	answers := r.Rollout.Prompts * r.Rollout.Group
	f := rlForecast{
		Trained: memory.Parameters, Problems: len(j.training.Problems), Dropped: j.left, Validation: len(j.validation.Problems),
		Steps: j.plan.Last, StepsInEpoch: j.plan.PerEpoch, Answers: answers, Updates: r.Batch.Epochs * (r.Rollout.Prompts / r.Batch.Mini),
		MostTokens: answers * r.Rollout.MaxResponse, MicroTokens: j.microTokens(),
		Memory: memory, MemoryTotal: memory.Total(), Cache: j.cacheBytes(free - memory.More()), MemoryFree: free,
	}
	if err := c.result(f, f.describe); err != nil {
		return err
	}
	return memory.Fits(free)
}

func (f rlForecast) describe(w io.Writer) error {
	m := f.Memory
	_, err := fmt.Fprintf(w, `model   %d parameters are trained
data    %d problems (%d too long), %d for validation
steps   %d (%d an epoch), each %d answers of up to %d tokens in all, %d updates of up to %d tokens at once
memory  %s: weights %s, gradients %s, moments %s, activations %s, logits %s, the process itself %s; the sampler's cache %s; %s are free
`, f.Trained, f.Problems, f.Dropped, f.Validation, f.Steps, f.StepsInEpoch, f.Answers, f.MostTokens, f.Updates, f.MicroTokens,
		humanBytes(f.MemoryTotal), humanBytes(m.Weights), humanBytes(m.Gradients), humanBytes(m.Moments), humanBytes(m.Activations), humanBytes(m.Logits), humanBytes(m.Process), humanBytes(f.Cache), humanBytes(f.MemoryFree))
	return err
}
