package sampling

import "math"

// row is a row of logits with what is known of it.
type row struct {
	logits  []float32
	best    int32   // the highest logit's id, the lowest of equals
	highest float32 // its logit
	inverse float64 // 1/temperature; 1 for temperature 0
	total   float64 // Σ weight; 0: not summed yet
}

// candidate is a token that may be drawn, with its weight.
type candidate struct {
	id     int32
	logit  float32
	weight float64
}

// Finite reports whether no logit is infinite or NaN. From others nothing can be
// drawn: every function here asks for finite rows.
func Finite(logits []float32) bool {
	const exponent = 0x7f800000 // all ones in infinities and NaNs, whatever their sign
	for _, l := range logits {
		if math.Float32bits(l)&exponent == exponent {
			return false
		}
	}
	return true
}

func newRow(logits []float32, temperature float64) row {
	r := row{logits: logits, highest: logits[0], inverse: 1}
	for i, l := range logits {
		if l > r.highest {
			r.highest, r.best = l, int32(i)
		}
	}
	if temperature > 0 {
		r.inverse = 1 / temperature
	}
	return r
}

// weight is how much less likely than the best a token is:
// e^((logit - highest)/temperature).
func (r *row) weight(logit float32) float64 {
	return exp(max(float64(logit-r.highest)*r.inverse, faintest))
}

// sum is the weight of all tokens.
func (r *row) sum() float64 {
	if r.total == 0 {
		r.total = sumExp(r.logits, r.highest, r.inverse)
	}
	return r.total
}

func (r *row) logProb(logit float32) float32 {
	return float32(float64(logit-r.highest)*r.inverse - math.Log(r.sum()))
}

// draw picks from the whole vocabulary the token in whose share of the weight,
// in the order of ids, u falls.
func (r *row) draw(u float64) int32 {
	target, sum := u*r.sum(), 0.0
	for i, l := range r.logits {
		x := float64(l-r.highest) * r.inverse
		if x < faintest {
			continue
		}
		if sum += exp(x); sum > target {
			return int32(i)
		}
	}
	return r.best
}

// atLeast appends the tokens whose logits reach the floor.
func (r *row) atLeast(kept []candidate, floor float32) []candidate {
	for i, l := range r.logits {
		if l >= floor {
			kept = append(kept, candidate{id: int32(i), logit: l, weight: r.weight(l)})
		}
	}
	return kept
}
