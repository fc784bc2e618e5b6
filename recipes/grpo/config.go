package grpo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/runtime/train"
	"github.com/coderl/cr/sandbox"
)

// Config is a run's settings, data and means.
type Config struct {
	Recipe  preset.RL
	Version string // of cr, for the record
	Threads int    // of the compute device, for the record
	// Steps is the step to stop after, 0 for the recipe's last one. Where it lies
	// beyond that, the schedule of a new run is laid out for it.
	Steps  int
	Resume bool // go on with the run in the recipe's folder, if there is one

	// Base identifies the model that the recipe begins from; its weights where
	// more than the first checkpoint depends on them.
	Base checkpoint.Base

	Train      datasets.Set // as [Fit] leaves it
	Validation datasets.Set // may be empty

	// Open opens the policy as the recipe begins, or as a checkpoint left it where
	// that is not "". The run closes it.
	Open func(ctx context.Context, checkpoint string) (*train.Trainer, error)
	// Reference opens the model to stay near to, frozen; called where the recipe
	// needs one that is not the policy without its adapters. The run closes it.
	Reference func(ctx context.Context) (*train.Trainer, error)
	Executor  sandbox.Executor // runs programs, of the tool and of the judge

	Concurrency int // conversations at a time; 0: 64
	Judges      int // answers judged at a time; 0: 2
	CacheBytes  int64

	Console  io.Writer         // gets the line of each step
	Progress func(Progress)    // may be nil; calls do not overlap
	Note     func(line string) // may be nil
}

// Progress is how far a run is.
type Progress struct {
	Step, Last int     // steps done, and in all
	Share      float64 // of the step at work, 0 to 1
	Stage      string  // generate, old_log_prob, ref, update, validate, save
	Done, Of   int     // answers of the step
	Score      float64 // mean of those that are judged; NaN before the first
	Length     float64 // mean response of those, in tokens
	Turns      float64 // mean of those
	Left       time.Duration
}

// Result is what a run came to.
type Result struct {
	Out        string   `json:"out"`
	Steps      int      `json:"steps"`
	Checkpoint string   `json:"checkpoint"`
	Best       string   `json:"best,omitempty"` // the checkpoint with the best validation
	Score      *float64 `json:"score"`          // mean of the last step's answers
	PassAt1    *float64 `json:"pass_at_1"`      // of the last validation
	Tokens     int64    `json:"tokens"`         // of all samples
}

// Run trains until the last step or the end of the context.
func Run(ctx context.Context, c Config) (result Result, err error) {
	p, err := NewPlan(c.Recipe, len(c.Train.Problems), c.Steps)
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
