package grpo

import (
	"math"

	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/runlog"
)

// state is where a run stands. With the settings, the data and the trainer's own
// state it decides everything that follows.
type state struct {
	Step   int   `json:"step"`  // whole steps done
	Drawn  int   `json:"drawn"` // problems drawn so far, resampled ones included
	Tokens int64 `json:"tokens"`
	// Pending are the metrics of the last step while it is not logged yet: an
	// interruption came in its validation.
	Pending []figure `json:"pending"`

	Score   checkpoint.Exact `json:"score"`     // of the last step
	PassAt1 checkpoint.Exact `json:"pass_at_1"` // of the last validation
	// Partial: some of its answers could not be judged, which are not in PassAt1.
	Partial bool `json:"partial,omitempty"`
	// Marked is the checkpoint with the best validation, 0: none yet.
	Marked      int              `json:"marked"`
	MarkedScore checkpoint.Exact `json:"marked_score"`

	Idle      int       `json:"idle"` // steps in a row that had nothing to learn from
	Agreement agreement `json:"agreement"`
}

// figure is a metric as a state keeps it.
type figure struct {
	Key   string           `json:"key"`
	Value checkpoint.Exact `json:"value"`
	Whole bool             `json:"whole,omitempty"`
}

func (f figure) metric() runlog.Metric {
	if f.Whole {
		return runlog.Count(f.Key, int64(f.Value))
	}
	return runlog.Number(f.Key, float64(f.Value))
}

func number(key string, v float64) figure { return figure{Key: key, Value: checkpoint.Exact(v)} }
func count(key string, n int) figure {
	return figure{Key: key, Value: checkpoint.Exact(n), Whole: true}
}

func newState() state {
	none := checkpoint.Exact(math.NaN())
	return state{Score: none, PassAt1: none, MarkedScore: checkpoint.Exact(math.Inf(-1))}
}

// logged is the last step that the log has; −1 where not even step 0, the
// validation before the first, need be there.
func (s state) logged() int {
	switch {
	case s.Step == 0:
		return -1
	case s.Pending != nil:
		return s.Step - 1
	}
	return s.Step
}
