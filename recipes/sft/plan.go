package sft

import (
	"fmt"

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
	Longest  int // tokens of the longest example, of either set
	// MicroTokens is the size of the largest micro-batch that can come up.
	MicroTokens      int
	EpochTokens      int64 // of all training examples
	ValidationTokens int64

	order examples.Schedule
}

// NewPlan lays a run out. steps is where to stop, 0 for the recipe's end.
func NewPlan(r preset.SFT, training, validation []examples.Example, steps int) (Plan, error) {
	order := examples.Schedule{Examples: len(training), BatchSize: r.Batch.Size, Seed: r.Seed, Shuffle: r.Data.Shuffle}
	if err := order.Validate(); err != nil {
		return Plan{}, fmt.Errorf("data.train and batch.size: %w", err)
	}
	p := Plan{
		PerEpoch: order.StepsPerEpoch(), LeftOut: len(training) % r.Batch.Size, Examples: len(training),
		Longest: 1, order: order,
	}
	for i := range training {
		p.Longest = max(p.Longest, len(training[i].IDs))
		p.EpochTokens += int64(len(training[i].IDs))
	}
	for i := range validation {
		p.Longest = max(p.Longest, len(validation[i].IDs))
		p.ValidationTokens += int64(len(validation[i].IDs))
	}
	p.MicroTokens = max(r.Batch.Tokens, p.Longest)
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

// Tokens estimates the tokens that steps of the plan compute.
func (p Plan) Tokens(steps int) int64 {
	return int64(float64(p.EpochTokens) / float64(p.Examples) * float64(p.order.BatchSize) * float64(steps))
}
