package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coderl/cr/recipes/sft"
	"github.com/coderl/cr/runtime"
	"github.com/coderl/cr/runtime/cpu"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/train"
)

// forecast is what --dry-run says.
type forecast struct {
	Parameters     int64        `json:"parameters"` // of the model
	Trained        int64        `json:"trained"`
	Examples       int          `json:"examples"`
	Steps          int          `json:"steps"`
	StepsPerEpoch  int          `json:"steps_per_epoch"`
	LeftOut        int          `json:"left_out"` // examples of an epoch that fill no batch
	Tokens         int64        `json:"tokens"`   // of all steps
	MicroTokens    int          `json:"micro_tokens"`
	Memory         train.Memory `json:"memory"`
	MemoryTotal    int64        `json:"memory_total"`
	MemoryFree     int64        `json:"memory_free"`
	FLOPs          float64      `json:"flops"`
	FLOPsPerSecond float64      `json:"flops_per_second"` // of matrix products, measured
	Seconds        float64      `json:"seconds"`
	standing
}

// dryRun says what the run would take. What would keep it from that is an error
// after that.
func (j *trainJob) dryRun(ctx context.Context, c *console) error {
	whole, err := train.PlanMemory(j.config, train.Options{}, 0, 1)
	if err != nil {
		return err
	}
	memory, err := j.memory()
	if err != nil {
		return err
	}
	f := forecast{
		Parameters: whole.Parameters, Trained: memory.Parameters, Examples: j.plan.Examples, Steps: j.plan.Last,
		StepsPerEpoch: j.plan.PerEpoch, LeftOut: j.plan.LeftOut, Tokens: j.plan.Tokens(), MicroTokens: j.plan.MicroTokens,
		Memory: memory, MemoryTotal: memory.Total(), MemoryFree: runtime.FreeMemory(),
		FLOPs: j.plan.FLOPs(j.config, j.recipe, whole.Parameters),
	}
	if f.FLOPsPerSecond, err = j.measureSpeed(); err != nil {
		return err
	}
	f.Seconds = f.FLOPs / f.FLOPsPerSecond
	bytes, err := checkpointBytes(j.config, j.stored, j.recipe.Model.SaveDType, memory)
	if err != nil {
		return err
	}
	f.expect(j.plan.Last, j.recipe.Train.SaveEvery, j.recipe.Train.Keep, bytes)
	run, err := j.run(ctx)
	if err != nil {
		return err
	}
	found, err := sft.Check(run)
	wrong := f.found(j.recipe.Train.Out, found, trainError(err))
	if err := c.result(f, f.describe); err != nil {
		return err
	}
	return errors.Join(memory.Fits(f.MemoryFree), f.fitsDisk(), wrong)
}

// memory is what training takes, and what the process holds before it.
func (j *trainJob) memory() (train.Memory, error) {
	m, err := train.PlanMemory(j.config, j.options(), j.stored, j.plan.MicroTokens)
	return m.WithProcess(runtime.ProcessMemory()), err
}

// fits refuses a run that the memory would not hold, before it starts.
func (j *trainJob) fits() error {
	memory, err := j.memory()
	if err != nil {
		return err
	}
	return memory.Fits(runtime.FreeMemory())
}

// measureSpeed measures matrix products, which training mostly is, for a moment.
func (j *trainJob) measureSpeed() (flops float64, err error) {
	const rows, inner, outer = 256, 1024, 1024
	const moment = 300 * time.Millisecond
	dev := cpu.New(j.threads())
	defer func() {
		if closeErr := dev.Close(); err == nil {
			err = closeErr
		}
	}()
	x, errX := dev.New(tensor.F32, rows, inner)
	w, errW := dev.New(j.options().DType, outer, inner)
	y, errY := dev.New(tensor.F32, rows, outer)
	for _, err := range []error{errX, errW, errY} {
		if err != nil {
			return 0, fmt.Errorf("measure the speed: %w", err)
		}
	}
	for _, t := range []tensor.Tensor{x, w, y} {
		dev.Zero(t)
	}
	products, began := 0, time.Now()
	for time.Since(began) < moment {
		dev.MatMul(y, x, w)
		if err := dev.Sync(); err != nil {
			return 0, fmt.Errorf("measure the speed: %w", err)
		}
		products++
	}
	return 2 * rows * inner * outer * float64(products) / time.Since(began).Seconds(), nil
}

func (f forecast) describe(w io.Writer) error {
	_, err := fmt.Fprintf(w, `model   %d parameters, %d of them trained
steps   %d (%d an epoch; %d of %d examples left out of each), %d tokens, up to %d at once
memory  %s; %s are free
time    about %s, at the %.0f GFLOP/s of this machine's matrix products now
%s`, f.Parameters, f.Trained, f.Steps, f.StepsPerEpoch, f.LeftOut, f.Examples, f.Tokens, f.MicroTokens,
		describeMemory(f.Memory), humanBytes(f.MemoryFree),
		time.Duration(f.Seconds*float64(time.Second)).Round(time.Second), f.FLOPsPerSecond/1e9, f.standing.describe())
	return err
}

// describeMemory is what training of any kind takes, in all and by part.
func describeMemory(m train.Memory) string {
	return fmt.Sprintf("%s: weights %s, gradients %s, moments %s, activations %s, logits %s, the process itself %s",
		humanBytes(m.Total()), humanBytes(m.Weights), humanBytes(m.Gradients), humanBytes(m.Moments), humanBytes(m.Activations), humanBytes(m.Logits), humanBytes(m.Process))
}
