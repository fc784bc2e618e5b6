package sampling

import (
	"cmp"
	"math"
	"slices"
)

// filter returns the tokens that top-k, top-p and min-p leave, most likely
// first and by id among equals.
func (s *Sampler) filter(logits []float32) []candidate {
	highest := logits[argmax(logits)]
	kept := s.candidates[:0]
	switch {
	case s.params.TopK > 0 && s.params.TopK < len(logits):
		kept = weigh(atLeast(kept, logits, kthLargest(logits, s.params.TopK)), highest)
		sortCandidates(kept)
		kept = nucleus(kept, s.params.TopP, mass(kept))
	case s.params.TopP > 0 && s.params.TopP < 1:
		kept = likely(kept, logits, highest, s.params.TopP)
	default:
		// min-p alone: one nat of slack, the exact test comes below.
		floor := float64(highest) + math.Log(s.params.MinP) - 1
		kept = weigh(atLeast(kept, logits, float32(floor)), highest)
		sortCandidates(kept)
	}
	s.candidates = kept
	return dropUnlikely(kept, s.params.MinP)
}

// likely is top-p over the whole vocabulary without sorting it: only tokens
// above a floor are sorted, and the floor falls until they hold the mass.
func likely(kept []candidate, logits []float32, highest float32, topP float64) []candidate {
	total := sumExp(logits, highest, 1)
	for depth := float32(7); ; depth *= 2 {
		kept = weigh(atLeast(kept[:0], logits, highest-depth), highest)
		if len(kept) == len(logits) || mass(kept) >= topP*total {
			sortCandidates(kept)
			return nucleus(kept, topP, total)
		}
	}
}

// nucleus keeps the shortest head whose mass reaches topP of total: a token
// stays if the mass before it is below.
func nucleus(sorted []candidate, topP, total float64) []candidate {
	if topP == 0 || topP == 1 {
		return sorted
	}
	var before float64
	for i, c := range sorted {
		if i > 0 && before >= topP*total {
			return sorted[:i]
		}
		before += c.weight
	}
	return sorted
}

// dropUnlikely keeps tokens at least minP times as likely as the first.
func dropUnlikely(sorted []candidate, minP float64) []candidate {
	for i, c := range sorted {
		if i > 0 && c.weight < minP*sorted[0].weight {
			return sorted[:i]
		}
	}
	return sorted
}

func atLeast(kept []candidate, logits []float32, floor float32) []candidate {
	for i, l := range logits {
		if l >= floor {
			kept = append(kept, candidate{id: int32(i), logit: l})
		}
	}
	return kept
}

func weigh(candidates []candidate, highest float32) []candidate {
	for i := range candidates {
		candidates[i].weight = exp(max(float64(candidates[i].logit-highest), faintest))
	}
	return candidates
}

func mass(candidates []candidate) float64 {
	var sum float64
	for _, c := range candidates {
		sum += c.weight
	}
	return sum
}

func sortCandidates(candidates []candidate) {
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.logit, a.logit), cmp.Compare(a.id, b.id))
	})
}

// kthLargest returns the k-th largest value, by a heap of the k largest with
// the smallest of them on top.
func kthLargest(values []float32, k int) float32 {
	heap := slices.Clone(values[:k])
	for i := k/2 - 1; i >= 0; i-- {
		siftDown(heap, i)
	}
	for _, v := range values[k:] {
		if v > heap[0] {
			heap[0] = v
			siftDown(heap, 0)
		}
	}
	return heap[0]
}

func siftDown(heap []float32, at int) {
	for {
		child := 2*at + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && heap[child+1] < heap[child] {
			child++
		}
		if heap[at] <= heap[child] {
			return
		}
		heap[at], heap[child] = heap[child], heap[at]
		at = child
	}
}

// draw picks the candidate in whose share of the mass u falls.
func draw(candidates []candidate, u float64) int32 {
	target := u * mass(candidates)
	var sum float64
	for _, c := range candidates {
		if sum += c.weight; sum > target {
			return c.id
		}
	}
	return candidates[len(candidates)-1].id
}

// drawAny draws from the whole vocabulary, in the order of ids.
func drawAny(logits []float32, u float64) int32 {
	highest := logits[argmax(logits)]
	target, sum := u*sumExp(logits, highest, 1), 0.0
	for i, l := range logits {
		x := float64(l - highest)
		if x < faintest {
			continue
		}
		if sum += exp(x); sum > target {
			return int32(i)
		}
	}
	return argmax(logits)
}
