package sft

import (
	"context"
	"fmt"
	"time"

	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/runlog"
)

// run goes from step to step. A step is an update, then its record: validation
// where due, the log, a checkpoint where due.
func (r *runner) run(ctx context.Context) (Result, error) {
	for !r.done() {
		if err := r.step(ctx); err != nil {
			return r.result(), r.stopped(ctx, err)
		}
	}
	return r.result(), nil
}

// done tells whether all is done and recorded.
func (r *runner) done() bool {
	return r.state.Pending == nil && (r.state.Step >= r.plan.Last || r.patienceLost())
}

// patienceLost tells whether validations have ceased to get better.
func (r *runner) patienceLost() bool {
	patience := r.config.Recipe.Train.Patience
	return patience > 0 && r.state.Stale >= patience
}

func (r *runner) step(ctx context.Context) error {
	took := time.Duration(0)
	if r.state.Pending == nil {
		start := time.Now()
		made, err := r.update(ctx)
		if err != nil {
			return fmt.Errorf("step %d: %w", r.state.Step+1, err)
		}
		took = time.Since(start)
		r.speed.add(made.Tokens, took)
		r.state.Step++
		r.state.Tokens += made.Tokens
		r.state.Pending = &made
		if made.Skipped {
			r.config.note("step %d: the gradient's norm is not finite: no weight was changed", r.state.Step)
		}
	}
	if err := r.record(ctx, took); err != nil {
		return fmt.Errorf("step %d: %w", r.state.Step, err)
	}
	return nil
}

// record validates, logs and saves the update that was made.
func (r *runner) record(ctx context.Context, took time.Duration) error {
	made, t := *r.state.Pending, r.config.Recipe.Train
	metrics := r.metrics(made, took)
	validated := false
	switch due := r.validationDue(); {
	case len(r.config.Validation) == 0:
	case due:
		loss, metric, err := r.validate(ctx)
		if err != nil {
			return err
		}
		validated = true
		metrics = append(metrics, metric...)
		r.judge(loss)
	case r.state.Step == r.plan.Last:
		return r.recordAtStop(ctx, metrics, made)
	}
	r.state.Loss, r.state.Pending = made.Loss, nil
	if err := r.log.Step(r.state.Step, metrics); err != nil {
		return err
	}
	newBest := validated && r.state.Stale == 0 && t.Patience > 0
	every := t.SaveEvery > 0 && r.state.Step%t.SaveEvery == 0
	r.tell("train", 0)
	if every || newBest || r.done() {
		return r.save(validated)
	}
	return nil
}

// recordAtStop records a step that the run stops after, short of the schedule's
// end and where no validation is due. Its validation loss is logged, but the
// checkpoint says that the step is still to be recorded: a run that goes on from
// it then leaves the log of one that never stopped.
func (r *runner) recordAtStop(ctx context.Context, metrics []runlog.Metric, made update) error {
	if r.saved != r.state.Step {
		if err := r.save(false); err != nil {
			return err
		}
	}
	loss, metric, err := r.validate(ctx)
	if err != nil {
		return err
	}
	r.state.Loss, r.state.Validation, r.state.Pending = made.Loss, checkpoint.Exact(loss), nil
	return r.log.Step(r.state.Step, append(metrics, metric...))
}

// validationDue tells whether the recipe validates after this step.
func (r *runner) validationDue() bool {
	every := r.config.Recipe.Train.ValidateEvery
	return r.state.Step == r.schedule.Total() || every > 0 && r.state.Step%every == 0
}

// judge compares a validation loss with the best so far.
func (r *runner) judge(loss float64) {
	r.state.Validation = checkpoint.Exact(loss)
	if checkpoint.Exact(loss) < r.state.BestLoss {
		r.state.BestLoss, r.state.Stale = checkpoint.Exact(loss), 0
	} else {
		r.state.Stale++
	}
}

// metrics are an update's, under verl's names. As there, the learning rate is
// that of the next update.
func (r *runner) metrics(made update, took time.Duration) []runlog.Metric {
	metrics := []runlog.Metric{
		runlog.Number("train/loss", float64(made.Loss)),
		runlog.Number("train/lr(1e-3)", 1e3*r.schedule.At(r.state.Step)),
	}
	if took > 0 {
		metrics = append(metrics,
			runlog.Clock("train/time(s)", took.Seconds()),
			runlog.Clock("perf/throughput", float64(made.Tokens)/took.Seconds()))
	}
	return append(metrics,
		runlog.Number("train/grad_norm", float64(made.GradNorm)),
		runlog.Count("train/global_tokens", made.Tokens),
		runlog.Count("train/loss_tokens", made.LossTokens),
		runlog.Number("train/total_tokens(B)", float64(r.state.Tokens)/1e9))
}

// save makes a checkpoint of the state at hand, marks it where its validation
// was the best of all checkpoints', and removes those that are not kept.
func (r *runner) save(validated bool) error {
	r.tell("save", 0)
	best := validated && r.state.Validation < r.state.MarkedLoss
	if best {
		r.state.Marked, r.state.MarkedLoss = r.state.Step, r.state.Validation
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

// stopped saves what an interrupted run has done since its last checkpoint.
func (r *runner) stopped(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if r.saved != r.state.Step {
		if err := r.save(false); err != nil {
			return fmt.Errorf("%w; the checkpoint failed: %w", ErrInterrupted, err)
		}
	}
	return r.folder.Interrupted(r.saved, r.plan.Last)
}

func (r *runner) result() Result {
	result := Result{
		Out: r.folder.Path(), Steps: r.state.Step, Tokens: r.state.Tokens,
		TrainLoss: r.state.Loss.Known(), ValidationLoss: r.state.Validation.Known(),
		StoppedEarly: r.state.Step < r.plan.Last && r.patienceLost(),
	}
	if r.saved > 0 {
		result.Checkpoint = r.folder.Step(r.saved)
	}
	if r.state.Marked > 0 {
		result.Best = r.folder.Step(r.state.Marked)
	}
	return result
}
