package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coderl/cr/internal/amount"
	"github.com/coderl/cr/recipes/grpo"
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
	standing
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
	}
	bytes, err := checkpointBytes(j.config, j.stored, r.Model.SaveDType, memory)
	if err != nil {
		return err
	}
	f.expect(j.plan.Last, r.Train.SaveEvery, r.Train.Keep, bytes)
	err = j.check(ctx, c, &f.standing)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := c.result(f, f.describe); err != nil {
		return err
	}
	return errors.Join(memory.Fits(free), f.fitsDisk(), err)
}

// check finds what would keep the run from beginning: its folder, its checkpoint,
// its reward, its sandbox.
func (j *rlJob) check(ctx context.Context, c *console, s *standing) error {
	run, err := j.run(ctx)
	if err != nil {
		return err
	}
	found, err := grpo.Check(ctx, run)
	err = s.found(j.recipe.Train.Out, found, rlError(err))
	flags := j.flags.executorFlags
	flags.SandboxWait = min(flags.SandboxWait, probeWait)
	executor, openErr := flags.open(ctx, c)
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	return errors.Join(err, executor.Close())
}

// probeWait is how long --dry-run waits for a sandbox.
const probeWait = 3 * time.Second

func (f rlForecast) describe(w io.Writer) error {
	_, err := fmt.Fprintf(w, `model   %d parameters are trained
data    %s (%d too long), %d for validation
steps   %d (%d an epoch), each %s of up to %s in all, %s of up to %s at once
memory  %s; the sampler's cache %s; %s are free
%s`, f.Trained, amount.Of(f.Problems, "problem"), f.Dropped, f.Validation, f.Steps, f.StepsInEpoch, amount.Of(f.Answers, "answer"), amount.Of(f.MostTokens, "token"), amount.Of(f.Updates, "update"), amount.Of(f.MicroTokens, "token"),
		describeMemory(f.Memory), humanBytes(f.Cache), humanBytes(f.MemoryFree),
		f.standing.describe())
	return err
}
