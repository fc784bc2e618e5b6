package grpo

import (
	"math"
	"time"
)

// tell reports progress within a stage of the step at work.
func (r *runner) tell(stage string, share float64) {
	p := &r.live
	p.Step, p.Last, p.Stage, p.Share = r.state.Step, r.plan.Last, stage, share
	if r.done > 0 {
		each := time.Since(r.began) / time.Duration(r.done)
		p.Left = time.Duration(r.plan.Last-r.state.Step) * each
	}
	if r.config.Progress != nil {
		r.config.Progress(*p)
	}
}

// tellSample reports an answer that was judged; done counts them in the step.
func (r *runner) tellSample(done, of int, s *sample) {
	p := &r.live
	if done == 1 {
		p.Score, p.Length, p.Turns, r.scored = math.NaN(), 0, 0, 0
	}
	n := float64(done)
	p.Done, p.Of = done, of
	if s.fate != dropped {
		r.scored++
		if r.scored == 1 {
			p.Score = 0
		}
		p.Score += (s.score.Reward - p.Score) / float64(r.scored)
	}
	p.Length += (float64(s.response()) - p.Length) / n
	p.Turns += (float64(len(s.episode.Turns)) - p.Turns) / n
	r.tell("generate", n/float64(of))
}
