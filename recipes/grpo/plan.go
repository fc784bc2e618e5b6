package grpo

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
	LeftOut  int // problems of each epoch that fill no step

	order examples.Schedule
}

// NewPlan lays a run over some problems out. steps is where to stop, 0 for the
// recipe's end.
func NewPlan(r preset.RL, problems, steps int) (Plan, error) {
	order := examples.Schedule{Examples: problems, BatchSize: r.Rollout.Prompts, Seed: r.Seed, Shuffle: r.Data.Shuffle}
	if err := order.Validate(); err != nil {
		return Plan{}, fmt.Errorf("data.train and rollout.prompts: %w", err)
	}
	p := Plan{PerEpoch: order.StepsPerEpoch(), LeftOut: problems % r.Rollout.Prompts, order: order}
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

// draw lists n problems from place at on in the order of practice, which goes on
// over all epochs. Without resampling, step s practises the places from
// s·rollout.prompts on.
func (p Plan) draw(at, n int) []int {
	size := p.order.BatchSize
	problems := make([]int, 0, n)
	for len(problems) < n {
		batch := p.order.Batch(at / size)
		take := min(n-len(problems), size-at%size)
		problems = append(problems, batch[at%size:at%size+take]...)
		at += take
	}
	return problems
}
