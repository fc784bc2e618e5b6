package eval

import "time"

const (
	// speedSpan is the stretch of time over which the speed is taken.
	speedSpan = 10 * time.Second
	// flowFor is how long tokens must have come before their speed says something
	// about the rest: until then, many sequences still read their prompts.
	flowFor = 5 * time.Second
)

// speedometer is the speed at which tokens come, over the last speedSpan. The
// time before the first token does not count: nothing is sampled in it.
type speedometer struct {
	marks []mark
	since time.Duration // when the first token was seen
}

// mark is how many tokens there were at a time since the start.
type mark struct {
	at     time.Duration
	tokens int64
}

// add notes a reading; readings come in the order of time.
func (s *speedometer) add(at time.Duration, tokens int64) {
	if tokens == 0 {
		return
	}
	if len(s.marks) == 0 {
		s.since = at
	}
	s.marks = append(s.marks, mark{at, tokens})
	// The oldest mark kept is the last one that is a whole span old.
	for len(s.marks) > 2 && s.marks[1].at <= at-speedSpan {
		s.marks = s.marks[1:]
	}
}

// perSecond is the speed, 0 until it is known.
func (s *speedometer) perSecond() float64 {
	if len(s.marks) < 2 {
		return 0
	}
	first, last := s.marks[0], s.marks[len(s.marks)-1]
	if last.at == first.at {
		return 0
	}
	return float64(last.tokens-first.tokens) / (last.at - first.at).Seconds()
}

// steady tells whether tokens have come for long enough to judge by.
func (s *speedometer) steady() bool {
	return len(s.marks) > 1 && s.marks[len(s.marks)-1].at-s.since >= flowFor && s.perSecond() > 0
}
