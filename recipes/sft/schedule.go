package sft

import (
	"math"

	"github.com/coderl/cr/recipes/preset"
)

// schedule is the learning rate by update, as verl's fsdp_sft_trainer has it.
type schedule struct {
	peak     float64
	warmup   int // updates over which the rate rises from 0
	total    int // updates until the cosine has reached 0
	constant bool
}

// newSchedule lays a recipe's rate out over total updates. The warm-up is
// rounded down, as Python's int does.
func newSchedule(o preset.Optim, total int) schedule {
	return schedule{peak: o.LR, warmup: int(o.Warmup * float64(total)), total: total, constant: o.Schedule == "constant"}
}

// rate is the learning rate of an update, counted from 0: peak·s/W for s < W,
// then peak·(cos(π·(s−W)/(total−W))/2 + 1/2), which is 0 from total on. The
// first of W > 0 updates therefore has rate 0.
func (s schedule) rate(update int) float64 {
	switch {
	case update < s.warmup:
		return s.peak * (float64(update) / float64(s.warmup))
	case s.constant:
		return s.peak
	}
	progress := min(1, float64(update-s.warmup)/float64(max(1, s.total-s.warmup)))
	return s.peak * (0.5*math.Cos(math.Pi*progress) + 0.5)
}
