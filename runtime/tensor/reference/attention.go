package reference

import (
	"math"

	"github.com/coderl/cr/runtime/tensor"
)

// Heads is the head layout of an attention call.
type Heads struct {
	Query, KV, Dim int
}

// Attention computes query row i of one kv head: for each query head of its
// group, dst = Σ_p softmax(scale·q·k)_p · v_p over the positions 0..Pos[i] that
// the page list of its sequence maps into the cache.
func Attention(dst, q, k, v []float32, h Heads, b tensor.AttentionBatch, i, kvHead int) {
	group := h.Query / h.KV
	at := rowOffsets(h, b, i, kvHead)
	p := make([]float64, len(at))
	for g := range group {
		lo := (i*h.Query + kvHead*group + g) * h.Dim
		softmaxScores(p, q[lo:][:h.Dim], k, at, b.Scale)
		weighted(dst[lo:][:h.Dim], p, v, at)
	}
}

// rowOffsets returns where in the cache each visible position's head begins.
func rowOffsets(h Heads, b tensor.AttentionBatch, i, kvHead int) []int {
	at, pages := make([]int, b.Pos[i]+1), b.Pages[b.Seq[i]]
	for p := range at {
		row := int(pages[p/tensor.PageSize])*tensor.PageSize + p%tensor.PageSize
		at[p] = (row*h.KV + kvHead) * h.Dim
	}
	return at
}

func softmaxScores(p []float64, q, k []float32, at []int, scale float32) {
	top := math.Inf(-1)
	for j, o := range at {
		sum := 0.0
		for d, v := range q {
			sum += float64(v) * float64(k[o+d])
		}
		p[j] = sum * float64(scale)
		top = max(top, p[j])
	}
	total := 0.0
	for j := range p {
		p[j] = math.Exp(p[j] - top)
		total += p[j]
	}
	for j := range p {
		p[j] /= total
	}
}

func weighted(dst []float32, p []float64, v []float32, at []int) {
	for d := range dst {
		sum := 0.0
		for j, o := range at {
			sum += p[j] * float64(v[o+d])
		}
		dst[d] = float32(sum)
	}
}
