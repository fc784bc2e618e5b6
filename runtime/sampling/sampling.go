// Package sampling draws a token from a row of logits.
//
// The filters and their order are those of Hugging Face's generate: repetition
// penalty, temperature, top-k, top-p, min-p. A draw depends on nothing but its
// row, its parameters and its key (see [Key]), so a sequence is the same
// whatever runs beside it.
package sampling

import (
	"fmt"
	"math"
)

// Params is how one request draws its tokens. The zero value is greedy.
type Params struct {
	Temperature       float64 // 0: the most likely token, lowest id on ties
	TopK              int     // 0: off
	TopP              float64 // 0 or 1: off
	MinP              float64 // 0: off
	RepetitionPenalty float64 // 0 or 1: off; over the prompt and the output
}

// Check refuses values outside their ranges.
func (p Params) Check() error {
	switch {
	case !(p.Temperature >= 0) || math.IsInf(p.Temperature, 0):
		return fmt.Errorf("temperature %v: must be 0 or more", p.Temperature)
	case p.TopK < 0:
		return fmt.Errorf("top-k %d: must be 0 (off) or more", p.TopK)
	case !(p.TopP >= 0 && p.TopP <= 1):
		return fmt.Errorf("top-p %v: must lie in 0..1", p.TopP)
	case !(p.MinP >= 0 && p.MinP <= 1):
		return fmt.Errorf("min-p %v: must lie in 0..1", p.MinP)
	case !(p.RepetitionPenalty >= 0) || math.IsInf(p.RepetitionPenalty, 0):
		return fmt.Errorf("repetition penalty %v: must be above 0 (1: off)", p.RepetitionPenalty)
	}
	return nil
}

// Sampler draws the tokens of one request. It keeps the request's history and
// its scratch memory; it is used by one goroutine at a time.
type Sampler struct {
	params     Params
	key        [2]uint64
	seen       map[int32]float32 // the history, with its logits before the penalty; nil without one
	candidates []candidate
}

// New returns the sampler of one request. Params were checked.
func New(p Params, seed uint64, request string) *Sampler {
	s := &Sampler{params: p, key: Key(seed, request)}
	if p.RepetitionPenalty != 0 && p.RepetitionPenalty != 1 {
		s.seen = map[int32]float32{}
	}
	return s
}

// See adds tokens to the history that the repetition penalty punishes: the
// prompt, and each token drawn.
func (s *Sampler) See(ids ...int32) {
	if s.seen == nil {
		return
	}
	for _, id := range ids {
		s.seen[id] = 0
	}
}

// Sample draws the token at an absolute position. If asked for, it also returns
// the token's log-probability as [LogProb] has it. A penalty changes logits.
func (s *Sampler) Sample(logits []float32, position int, logProb bool) (int32, float32) {
	r := newRow(logits, s.params.Temperature)
	plain := r
	if s.seen != nil {
		if logProb {
			plain.sum()
		}
		s.penalise(logits)
		r = newRow(logits, s.params.Temperature)
	}
	id := s.choose(&r, position)
	if !logProb {
		return id, 0
	}
	if s.seen == nil {
		return id, r.logProb(logits[id])
	}
	if before, ok := s.seen[id]; ok {
		return id, plain.logProb(before)
	}
	return id, plain.logProb(logits[id])
}

// choose draws from a row after the penalty.
func (s *Sampler) choose(r *row, position int) int32 {
	if s.params.Temperature == 0 {
		return r.best
	}
	u := uniform(s.key, uint64(position))
	if s.params.TopK == 0 && (s.params.TopP == 0 || s.params.TopP == 1) && s.params.MinP == 0 {
		return r.draw(u)
	}
	return draw(s.filter(r), u)
}

// penalise divides the positive and multiplies the negative logits of the
// history, once each.
func (s *Sampler) penalise(logits []float32) {
	penalty := float32(s.params.RepetitionPenalty)
	for id := range s.seen {
		if id < 0 || int(id) >= len(logits) {
			continue
		}
		s.seen[id] = logits[id]
		if logits[id] > 0 {
			logits[id] /= penalty
		} else {
			logits[id] *= penalty
		}
	}
}

// LogProb is log-softmax(logits/temperature) of id, over the whole vocabulary:
// no filter and no penalty, as a trainer computes it. Temperature 0 stands for
// the raw logits.
func LogProb(logits []float32, id int32, temperature float64) float32 {
	r := newRow(logits, temperature)
	return r.logProb(logits[id])
}
