package sft

import (
	"fmt"
	"slices"

	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/recipes/preset"
)

// Plan is what a run will do, as far as settings and data tell.
type Plan struct {
	Schedule int // steps that the learning rate is laid out for
	Last     int // the step to stop after
	PerEpoch int // steps of an epoch
	LeftOut  int // conversations of each epoch that fill no batch
	Examples int // for training
	// MicroTokens bounds the tokens that are computed at once.
	MicroTokens int

	training, validation volume
	order                examples.Schedule
}

// NewPlan lays a run out. steps is where to stop, 0 for the recipe's end.
func NewPlan(r preset.SFT, training, validation []examples.Example, steps int) (Plan, error) {
	order := examples.Schedule{Examples: len(training), BatchSize: r.Batch.Size, Seed: r.Seed, Shuffle: r.Data.Shuffle}
	if err := order.Validate(); err != nil {
		return Plan{}, fmt.Errorf("data.train and batch.size: %w", err)
	}
	p := Plan{
		PerEpoch: order.StepsPerEpoch(), LeftOut: len(training) % r.Batch.Size, Examples: len(training),
		training: measure(training), validation: measure(validation), order: order,
	}
	p.MicroTokens = max(
		microBound(r.Batch.Tokens, p.training.longest, longestBatch(training, r.Batch.Size)),
		microBound(r.Batch.Tokens, p.validation.longest, p.validation.tokens))
	p.Schedule = r.Train.Steps
	if p.Schedule == 0 {
		p.Schedule = p.PerEpoch * r.Train.Epochs
	}
	p.Last = p.Schedule
	if steps > 0 {
		p.Last, p.Schedule = steps, max(p.Schedule, steps)
	}
	return p, nil
}

// microBound bounds a micro-batch: by the budget, or the one example beyond it,
// and by all that there is to pack.
func microBound(budget, longest int, all int64) int {
	return int(min(int64(max(budget, longest)), all))
}

// longestBatch is the tokens of the longest examples that could make a batch.
func longestBatch(all []examples.Example, size int) int64 {
	lengths := make([]int, len(all))
	for i := range all {
		lengths[i] = len(all[i].IDs)
	}
	slices.Sort(lengths)
	var sum int64
	for _, n := range lengths[max(0, len(lengths)-size):] {
		sum += int64(n)
	}
	return sum
}

// Tokens is the tokens that the steps of the plan compute, on the mean.
func (p Plan) Tokens() int64 {
	return int64(float64(p.training.tokens) / float64(p.Examples) * float64(p.order.BatchSize) * float64(p.Last))
}
