package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/grpo"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/runtime"
	"github.com/coderl/cr/runtime/train"
)

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
	Checkpoint   int64        `json:"checkpoint"` // bytes of one, about
	Checkpoints  int          `json:"checkpoints"`
	DiskFree     int64        `json:"disk_free"`
	GoingOn      int          `json:"going_on_after_step"`
}

// dryRun says what the run would take, and what would keep it from that.
func (j *rlJob) dryRun(ctx context.Context, c *console) error {
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
		Checkpoints: checkpoints(r.Train, j.plan.Last),
	}
	if f.Checkpoint, err = j.checkpointBytes(memory); err != nil {
		return err
	}
	found, err := j.check(ctx, c)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.DiskFree, f.GoingOn = found.Free, found.Latest
	if err := c.result(f, f.describe); err != nil {
		return err
	}
	return errors.Join(memory.Fits(free), f.fitsDisk(), err)
}

// check finds what would keep the run from beginning: its folder, its checkpoint,
// its reward, its sandbox.
func (j *rlJob) check(ctx context.Context, c *console) (checkpoint.Standing, error) {
	run, err := j.run(ctx)
	if err != nil {
		return checkpoint.Standing{}, err
	}
	found, err := grpo.Check(ctx, run)
	if err != nil {
		err = rlError(err)
	}
	if err == nil && found.Latest > 0 {
		err = badInput(wholeCheckpoint(checkpoint.Step(j.recipe.Train.Out, found.Latest)))
	}
	flags := j.flags.executorFlags
	flags.SandboxWait = min(flags.SandboxWait, probeWait)
	executor, openErr := flags.open(ctx, c)
	if openErr != nil {
		return found, errors.Join(err, openErr)
	}
	return found, errors.Join(err, executor.Close())
}

// probeWait is how long --dry-run waits for a sandbox.
const probeWait = 3 * time.Second

// checkpoints is how many a run leaves, without its best.
func checkpoints(t preset.RLTrain, last int) int {
	all := 1
	if t.SaveEvery > 0 {
		all = (last + t.SaveEvery - 1) / t.SaveEvery
	}
	if t.Keep > 0 {
		all = min(all, t.Keep)
	}
	return max(1, all)
}

// checkpointBytes is about what a checkpoint takes: the model, and what is
// trained in f32 with its two moments.
func (j *rlJob) checkpointBytes(m train.Memory) (int64, error) {
	whole, err := train.PlanMemory(j.config, train.Options{}, 0, 1)
	model := 4 * whole.Parameters
	switch j.recipe.Model.SaveDType {
	case "bf16":
		model /= 2
	case "model":
		model = min(model, max(j.stored, model/2)) // no checkpoint is quantised
	}
	return model + 12*m.Parameters, err
}

// fitsDisk refuses a run whose disk does not hold a single checkpoint.
func (f rlForecast) fitsDisk() error {
	if f.DiskFree > 0 && f.DiskFree < f.Checkpoint {
		return fmt.Errorf("a checkpoint takes about %s, and the run folder's disk has %s: make room, or choose another folder (--out)", humanBytes(f.Checkpoint), humanBytes(f.DiskFree))
	}
	return nil
}

func (f rlForecast) describe(w io.Writer) error {
	m := f.Memory
	_, err := fmt.Fprintf(w, `model   %d parameters are trained
data    %d problems (%d too long), %d for validation
steps   %d (%d an epoch), each %d answers of up to %d tokens in all, %d updates of up to %d tokens at once
memory  %s: weights %s, gradients %s, moments %s, activations %s, logits %s, the process itself %s; the sampler's cache %s; %s are free
%s%s`, f.Trained, f.Problems, f.Dropped, f.Validation, f.Steps, f.StepsInEpoch, f.Answers, f.MostTokens, f.Updates, f.MicroTokens,
		humanBytes(f.MemoryTotal), humanBytes(m.Weights), humanBytes(m.Gradients), humanBytes(m.Moments), humanBytes(m.Activations), humanBytes(m.Logits), humanBytes(m.Process), humanBytes(f.Cache), humanBytes(f.MemoryFree),
		f.disk(), f.goingOn())
	return err
}

// disk is the line about checkpoints.
func (f rlForecast) disk() string {
	if f.DiskFree == 0 {
		return "" // there is no folder to put them in, as an error says
	}
	return fmt.Sprintf("disk    checkpoints of about %s, of which up to %d and the best stay; %s are free\n", humanBytes(f.Checkpoint), f.Checkpoints, humanBytes(f.DiskFree))
}

// goingOn is the line about a run that is resumed.
func (f rlForecast) goingOn() string {
	if f.GoingOn == 0 {
		return ""
	}
	return fmt.Sprintf("run     goes on after step %d\n", f.GoingOn)
}
