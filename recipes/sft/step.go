package sft

import (
	"context"
	"time"

	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/recipes/runlog"
)

// update makes one update of the weights: the gradients of all micro-batches of
// the step's batch, then the optimiser.
func (r *runner) update(ctx context.Context) (update, error) {
	rows := r.plan.order.Batch(r.state.Step)
	batch := make([]examples.Example, len(rows))
	for i, row := range rows {
		batch[i] = r.config.Train[row]
	}
	micros, err := divide(batch, r.config.Recipe)
	if err != nil {
		return update{}, err
	}
	made, loss := update{}, 0.0
	for i, m := range micros {
		r.tell("train", float64(i)/float64(len(micros)))
		weight := float32(-m.weight)
		err := r.trainer.Backward(ctx, m.batch, 1, func(_, _ int, logp, _, dlogp, _ []float32) {
			for j, lp := range logp {
				loss -= m.weight * float64(lp)
				dlogp[j] = weight
			}
		})
		if err != nil {
			return update{}, err
		}
		made.Tokens += int64(len(m.batch.IDs))
		made.LossTokens += int64(len(m.batch.Rows))
	}
	if err := ctx.Err(); err != nil {
		return update{}, err
	}
	done, err := r.trainer.Step(r.schedule.At(r.state.Step))
	made.Loss, made.GradNorm, made.Skipped = checkpoint.Exact(loss), checkpoint.Exact(done.GradNorm), done.Skipped
	return made, err
}

// validate returns the loss over the validation set and its metrics: the mean
// over all loss tokens, or with loss.norm verl the mean over micro-batches of
// their token means.
func (r *runner) validate(ctx context.Context) (float64, []runlog.Metric, error) {
	start := time.Now()
	size := len(r.config.Validation)
	verl := r.config.Recipe.Loss.Norm == "verl"
	if verl {
		size = r.config.Recipe.Batch.Micro
	}
	loss, groups := 0.0, 0
	for at := 0; at < len(r.config.Validation); at += size {
		group := r.config.Validation[at:min(at+size, len(r.config.Validation))]
		mean, err := r.meanLoss(ctx, group, float64(at)/float64(len(r.config.Validation)))
		if err != nil {
			return 0, nil, err
		}
		loss += mean
		groups++
	}
	loss /= float64(groups)
	return loss, []runlog.Metric{
		runlog.Number("val/loss", loss),
		runlog.Clock("timing_s/testing", time.Since(start).Seconds()),
	}, nil
}

// meanLoss is the mean over all loss tokens of some examples.
func (r *runner) meanLoss(ctx context.Context, group []examples.Example, share float64) (float64, error) {
	packed, err := pack(group, r.config.Recipe.Batch.Tokens)
	if err != nil {
		return 0, err
	}
	sum, n := 0.0, 0
	weight := float64(len(group)) / float64(len(r.config.Validation))
	for i, b := range packed {
		r.tell("validate", share+weight*float64(i)/float64(len(packed)))
		logp, _, err := r.trainer.LogProbs(ctx, b, 1)
		if err != nil {
			return 0, err
		}
		for _, lp := range logp {
			sum -= float64(lp)
		}
		n += len(logp)
	}
	return sum / float64(n), nil
}
