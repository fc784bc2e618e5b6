package grpo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/runlog"
)

// run goes from step to step. A step is practice and updates, then its record:
// validation where due, the log, a checkpoint where due.
func (r *runner) run(ctx context.Context) (Result, error) {
	if err := r.validateBefore(ctx); err != nil {
		return r.result(), r.stopped(ctx, err)
	}
	for r.state.Pending != nil || r.state.Step < r.plan.Last {
		if err := r.step(ctx); err != nil {
			return r.result(), r.stopped(ctx, err)
		}
	}
	return r.result(), nil
}

// validateBefore evaluates the model that the run begins from.
func (r *runner) validateBefore(ctx context.Context) error {
	v := r.config.Recipe.Validate
	if r.state.Step > 0 || !v.Before || v.Every == 0 {
		return nil
	}
	began := time.Now()
	figures, err := r.validate(ctx, 0)
	if err != nil {
		return fmt.Errorf("validate before the first step: %w", err)
	}
	r.compare()
	return r.log.Step(0, append(metricsOf(figures), runlog.Clock("timing_s/testing", time.Since(began).Seconds())))
}

func (r *runner) step(ctx context.Context) error {
	var clocks []runlog.Metric
	if r.state.Pending == nil {
		var err error
		if clocks, err = r.work(ctx); err != nil {
			return fmt.Errorf("step %d: %w", r.state.Step+1, err)
		}
		r.done++
	}
	if err := r.record(ctx, clocks); err != nil {
		return fmt.Errorf("step %d: %w", r.state.Step, err)
	}
	return nil
}

// work samples, judges and updates; its metrics wait in the state to be logged.
func (r *runner) work(ctx context.Context) ([]runlog.Metric, error) {
	r.live.Score, r.live.Done, r.live.Of = math.NaN(), 0, 0
	began := time.Now()
	busy := r.engineSeconds()
	r.tell("generate", 0)
	practice, err := r.practise(ctx)
	if err != nil {
		return nil, err
	}
	busy = r.engineSeconds() - busy
	adv := time.Now()
	r.weigh(practice.samples)
	advTime := time.Since(adv)
	if err := r.saveRollouts(r.state.Step+1, practice.samples); err != nil {
		return nil, err
	}
	made, err := r.update(ctx, practice.samples)
	if err != nil {
		return nil, err
	}
	renew := time.Now()
	if err := r.engine.Renew(); err != nil {
		return nil, fmt.Errorf("move the weights into the sampler: %w", err)
	}
	t := times{
		step: time.Since(began), generate: practice.lap.generate, judge: practice.lap.judge, adv: advTime,
		old: made.oldTime, ref: made.refTime, update: made.updateTime, renew: time.Since(renew), busy: busy,
	}
	r.torn = false
	r.tellIdle(practice, made)
	figures := r.figures(practice, made)
	r.state.Pending = figures
	r.state.Drawn += practice.problems
	r.state.Agreement.practised(practice.means)
	r.state.Step++
	r.state.Tokens += tokensOf(practice.samples)
	return t.metrics(practice.samples), nil
}

// engineSeconds is how long the engine has computed.
func (r *runner) engineSeconds() float64 {
	s := r.engine.Stats()
	return s.PrefillSeconds + s.DecodeSeconds
}

// record validates, logs and saves the step that was made.
func (r *runner) record(ctx context.Context, clocks []runlog.Metric) error {
	t := r.config.Recipe.Train
	figures, best := r.state.Pending, false
	if r.validationDue() {
		began := time.Now()
		found, err := r.validate(ctx, r.state.Step)
		if err != nil {
			return err
		}
		figures = append(figures[:len(figures):len(figures)], found...)
		figures = append(figures, r.compare()...)
		clocks = append(clocks, runlog.Clock("timing_s/testing", time.Since(began).Seconds()))
		best = r.validated() && r.state.PassAt1 > r.state.MarkedScore
	}
	score := r.state.Score
	for _, f := range r.state.Pending {
		if f.Key == scoreMean {
			score = f.Value
		}
	}
	r.state.Score, r.state.Pending = score, nil
	// The log comes first: a checkpoint says that its step is logged.
	if err := r.log.Step(r.state.Step, append(metricsOf(figures), clocks...)); err != nil {
		return err
	}
	last := r.state.Step >= r.plan.Last
	if last || best || t.SaveEvery > 0 && r.state.Step%t.SaveEvery == 0 {
		return r.save(best)
	}
	return nil
}

// validationDue tells whether the recipe validates after this step.
func (r *runner) validationDue() bool {
	every := r.config.Recipe.Validate.Every
	return every > 0 && (r.state.Step%every == 0 || r.state.Step == r.schedule.Total())
}

// save makes a checkpoint of the state at hand, marks it where its validation is
// the best so far, and removes those that are not kept.
func (r *runner) save(best bool) error {
	r.tell("save", 0)
	if best {
		r.state.Marked, r.state.MarkedScore = r.state.Step, r.state.PassAt1
	}
	if err := r.log.Sync(); err != nil {
		return err
	}
	if err := r.folder.Commit(r.state.Step, r.trainer, r.state, best, r.config.Recipe.Train.Keep); err != nil {
		return err
	}
	r.saved = r.state.Step
	return nil
}

// stopped saves what a run has done since its last checkpoint that is
// interrupted, or has nobody to judge its answers.
func (r *runner) stopped(ctx context.Context, err error) error {
	judging := ctx.Err() == nil && errors.Is(err, errJudging)
	if r.torn || ctx.Err() == nil && !judging {
		return err
	}
	if r.saved != r.state.Step {
		if saveErr := r.save(false); saveErr != nil {
			if !judging {
				err = checkpoint.ErrInterrupted
			}
			return fmt.Errorf("%w; the checkpoint failed: %w", err, saveErr)
		}
	}
	switch {
	case !judging:
		return r.folder.Interrupted(r.saved, r.plan.Last)
	case r.saved > 0:
		return fmt.Errorf("%w; step %d is saved: resume the run when that is mended", err, r.saved)
	}
	return err
}

func (r *runner) result() Result {
	result := Result{
		Out: r.folder.Path(), Steps: r.state.Step, Tokens: r.state.Tokens,
		Score: r.state.Score.Known(), PassAt1: r.state.PassAt1.Known(),
	}
	if r.saved > 0 {
		result.Checkpoint = r.folder.Step(r.saved)
	}
	if r.state.Marked > 0 {
		result.Best = r.folder.Step(r.state.Marked)
	}
	return result
}
