package sft

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/recipes/rate"
	"github.com/coderl/cr/recipes/runlog"
)

// runner is a run at work.
type runner struct {
	config   Config
	plan     Plan
	schedule rate.Schedule
	folder   *checkpoint.Folder
	log      *runlog.Log
	trainer  Trainer
	state    state
	saved    int // the step of the newest checkpoint
	speed    speed
}

// begin opens the folder, the log and the model, where the last checkpoint left
// them or anew.
func begin(ctx context.Context, c Config, p Plan) (*runner, error) {
	folder, err := checkpoint.Open(c.Recipe.Train.Out)
	if err != nil {
		return nil, err
	}
	r := &runner{config: c, plan: p, folder: folder, state: newState(), speed: speed{began: time.Now()}}
	if err := r.open(ctx); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *runner) open(ctx context.Context) error {
	steps, err := settle(r.folder, r.config, r.plan)
	if err != nil {
		return err
	}
	r.schedule = newRate(r.config.Recipe.Optim, steps)
	if r.config.Steps == 0 {
		r.plan.Last = steps
	}
	if r.saved, err = r.folder.Latest(); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	from := ""
	if r.saved > 0 {
		from = r.folder.Step(r.saved)
		if err := r.restore(from); err != nil {
			return err
		}
	}
	if r.log, err = runlog.Open(r.folder.Path(), r.state.logged(), r.config.Console); err != nil {
		return err
	}
	if gap := r.log.Gap(); gap != "" {
		r.config.note("%s", gap)
	}
	r.trainer, err = r.config.Open(ctx, from)
	return err
}

// newRate lays a recipe's rate out over total updates.
func newRate(o preset.Optim, total int) rate.Schedule {
	return rate.New(o.LR, o.Warmup, o.Schedule, total)
}

// restore takes up a checkpoint's state.
func (r *runner) restore(from string) error {
	var err error
	if r.state, err = readState(from); err != nil {
		return err
	}
	if err := r.folder.TakenUp(r.saved, r.state.Step, r.state.Marked); err != nil {
		return err
	}
	r.config.note("going on after step %d", r.state.Step)
	return nil
}

func (r *runner) close() error {
	var errs []error
	if r.trainer != nil {
		errs = append(errs, r.trainer.Close())
	}
	if r.log != nil {
		errs = append(errs, r.log.Close())
	}
	return errors.Join(append(errs, r.folder.Close())...)
}

// speed measures the steps of this process.
type speed struct {
	began  time.Time
	steps  int
	tokens int64
	busy   time.Duration
}

// add counts a step.
func (s *speed) add(tokens int64, took time.Duration) {
	s.steps++
	s.tokens += tokens
	s.busy += took
}

func (s *speed) tokensPerSecond() float64 {
	if s.busy == 0 {
		return 0
	}
	return float64(s.tokens) / s.busy.Seconds()
}

// left is the time that steps will take, with what comes between them.
func (s *speed) left(steps float64) time.Duration {
	if s.steps == 0 {
		return 0
	}
	return time.Duration(steps * float64(time.Since(s.began)) / float64(s.steps))
}

// tell reports progress.
func (r *runner) tell(stage string, share float64) {
	if r.config.Progress == nil {
		return
	}
	done := r.state.logged()
	loss := float64(r.state.Loss)
	if r.state.Pending != nil {
		loss = math.NaN()
	}
	r.config.Progress(Progress{
		Step: done, Last: r.plan.Last, Share: share, Stage: stage, Loss: loss,
		TokensPerSecond: r.speed.tokensPerSecond(), Left: r.speed.left(float64(r.plan.Last-done) - share),
	})
}
