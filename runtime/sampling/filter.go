package sampling

import (
	"cmp"
	"math"
	"slices"
)

// filter returns the tokens that top-k, top-p and min-p leave, most likely
// first and by id among equals.
func (s *Sampler) filter(r *row) []candidate {
	kept := s.candidates[:0]
	switch {
	case s.params.TopK > 0 && s.params.TopK < len(r.logits):
		kept = r.atLeast(kept, kthLargest(r.logits, s.params.TopK))
		sortCandidates(kept)
		kept = nucleus(kept, s.params.TopP, mass(kept))
	case s.params.TopP > 0 && s.params.TopP < 1:
		kept = likely(kept, r, s.params.TopP)
	default:
		// min-p alone: a little slack, the exact test comes below.
		floor := float64(r.highest) + (math.Log(s.params.MinP)-0.1)/r.inverse
		kept = r.atLeast(kept, float32(floor))
		sortCandidates(kept)
	}
	s.candidates = kept
	return dropUnlikely(kept, s.params.MinP)
}

// likely is top-p over the whole vocabulary without sorting it: only tokens
// above a floor are sorted, and the floor falls until they hold the mass.
func likely(kept []candidate, r *row, topP float64) []candidate {
	for depth := 4.0; ; depth *= 2 {
		kept = r.atLeast(kept[:0], r.highest-float32(depth/r.inverse))
		if len(kept) == len(r.logits) || mass(kept) >= topP*r.sum() {
			sortCandidates(kept)
			return nucleus(kept, topP, r.sum())
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

func mass(candidates []candidate) float64 {
	var sum float64
	for _, c := range candidates {
		sum += c.weight
	}
	return sum
}

func sortCandidates(candidates []candidate) {
	slices.SortFunc(candidates, func(a, b candidate) int {
		switch {
		case a.logit > b.logit:
			return -1
		case a.logit < b.logit:
			return 1
		}
		return cmp.Compare(a.id, b.id)
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
