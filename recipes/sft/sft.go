// Package sft is supervised fine-tuning, step by step: batches of conversations
// in an order that the settings alone decide, a token-mean loss, AdamW by a
// schedule, validation, and checkpoints that a killed run goes on from to the
// same bits.
package sft

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/runtime/train"
)

// Trainer is the model in training; [train.Trainer] is one.
type Trainer interface {
	// Backward adds a micro-batch's gradients to those of the step.
	Backward(ctx context.Context, b train.Batch, temperature float32, loss train.Loss) error
	LogProbs(ctx context.Context, b train.Batch, temperature float32) (logp, entropy []float32, err error)
	// Step updates the weights by the gradients, and clears them.
	Step(lr float64) (train.Update, error)
	// Save writes the model and what a resumed run needs of it into a folder.
	Save(dir string) error
	Close() error
}

// Config is a run's settings and data.
type Config struct {
	Recipe  preset.SFT
	Version string // of cr, for the record
	Threads int    // of the compute device, for the record
	// Steps is the step to stop after, 0 for the recipe's last one. Where it lies
	// beyond that, the schedule of a new run is laid out for it.
	Steps  int
	Resume bool // go on with the run in the recipe's folder, if there is one

	// Base identifies the model that the recipe begins from; its weights where
	// more than the first checkpoint depends on them.
	Base checkpoint.Base

	Train      []examples.Example
	Validation []examples.Example // may be empty

	// Open makes the trainer: of a checkpoint that it saved, or as the recipe
	// begins where that is "".
	Open func(ctx context.Context, checkpoint string) (Trainer, error)

	Console  io.Writer         // gets the line of each step
	Progress func(Progress)    // may be nil
	Note     func(line string) // may be nil
}

// Progress is how far a run is.
type Progress struct {
	Step, Last      int     // steps done, and in all
	Share           float64 // of the step at work, 0 to 1
	Stage           string  // train, validate, save
	Loss            float64 // of the last step; NaN before the first
	TokensPerSecond float64 // 0: not known yet
	Left            time.Duration
}

// Result is what a run came to.
type Result struct {
	Out            string   `json:"out"`
	Steps          int      `json:"steps"`
	Checkpoint     string   `json:"checkpoint"`
	Best           string   `json:"best,omitempty"` // the checkpoint with the lowest validation loss
	TrainLoss      *float64 `json:"train_loss"`
	ValidationLoss *float64 `json:"validation_loss"`
	Tokens         int64    `json:"tokens"` // computed by all steps
	StoppedEarly   bool     `json:"stopped_early"`
}

// Errors that callers branch on.
var (
	ErrRunExists      = checkpoint.ErrRunExists
	ErrSettingsDiffer = checkpoint.ErrSettingsDiffer
	ErrInterrupted    = checkpoint.ErrInterrupted
	ErrTooFew         = examples.ErrTooFew
)

// Run trains until the last step, the early stop, or the end of the context.
func Run(ctx context.Context, c Config) (result Result, err error) {
	p, err := NewPlan(c.Recipe, c.Train, c.Validation, c.Steps)
	if err != nil {
		return Result{}, err
	}
	r, err := begin(ctx, c, p)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	return r.run(ctx)
}

// note says a line about the run.
func (c Config) note(format string, args ...any) {
	if c.Note != nil {
		c.Note(fmt.Sprintf(format, args...))
	}
}
