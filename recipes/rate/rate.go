// Package rate is the learning rate by update.
package rate

import "math"

// Schedule is a rate by update, as verl's fsdp_sft_trainer has it.
type Schedule struct {
	peak     float64
	warmup   int // updates over which the rate rises from 0
	total    int // updates until the cosine has reached 0
	constant bool
}

// New lays a rate out over total updates: warmup is the share of them over which
// it rises, rounded down to whole updates as Python's int does; shape is cosine
// or constant.
func New(peak, warmup float64, shape string, total int) Schedule {
	return Schedule{peak: peak, warmup: int(warmup * float64(total)), total: total, constant: shape == "constant"}
}

// Total is the number of updates that the rate is laid out for.
func (s Schedule) Total() int { return s.total }

// At is the learning rate of an update, counted from 0: peak·s/W for s < W, then
// peak·(cos(π·(s−W)/(total−W))/2 + 1/2), which is 0 from total on. The first of
// W > 0 updates therefore has rate 0.
func (s Schedule) At(update int) float64 {
	switch {
	case update < s.warmup:
		return s.peak * (float64(update) / float64(s.warmup))
	case s.constant:
		return s.peak
	}
	progress := min(1, float64(update-s.warmup)/float64(max(1, s.total-s.warmup)))
	return s.peak * (0.5*math.Cos(math.Pi*progress) + 0.5)
}
