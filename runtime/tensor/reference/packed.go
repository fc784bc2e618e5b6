package reference

import "math"

// Segment is one sequence of a packed batch, rows [Start, End), with the factor
// on its scores.
type Segment struct {
	Start, End int
	Scale      float32
}

// PackedAttention computes rows [lo, hi) of a segment for one kv head: for each
// query head of its group, dst = Σ_j p_j·v_j over the rows j up to its own, and
// lse.
func PackedAttention(dst, lse, q, k, v []float32, h Heads, s Segment, lo, hi, kvHead int) {
	for i := lo; i < hi; i++ {
		at := visibleRows(h, s, i, kvHead)
		p := make([]float64, len(at))
		for _, head := range h.group(kvHead) {
			lo := (i*h.Query + head) * h.Dim
			lse[i*h.Query+head] = float32(logSumExp(p, q[lo:][:h.Dim], k, at, s.Scale))
			for j := range p {
				p[j] = math.Exp(p[j])
			}
			weighted(dst[lo:][:h.Dim], p, v, at)
		}
	}
}

// group returns the query heads that share a kv head.
func (h Heads) group(kvHead int) []int {
	heads := make([]int, h.Query/h.KV)
	for i := range heads {
		heads[i] = kvHead*len(heads) + i
	}
	return heads
}

// visibleRows returns where the kv head of each row that row i sees begins.
func visibleRows(h Heads, s Segment, i, kvHead int) []int {
	at := make([]int, i-s.Start+1)
	for j := range at {
		at[j] = ((s.Start+j)*h.KV + kvHead) * h.Dim
	}
	return at
}

// logSumExp fills p with the logarithms of the softmax of scale·q·k and returns
// the logarithm of its denominator.
func logSumExp(p []float64, q, k []float32, at []int, scale float32) float64 {
	top, total := math.Inf(-1), 0.0
	for j, o := range at {
		p[j] = float64(scale) * dot64(q, k[o:])
		top = max(top, p[j])
	}
	for _, score := range p {
		total += math.Exp(score - top)
	}
	lse := top + math.Log(total)
	for j := range p {
		p[j] -= lse
	}
	return lse
}

func dot64(a, b []float32) float64 {
	sum := 0.0
	for i, v := range a {
		sum += float64(v) * float64(b[i])
	}
	return sum
}

// AttentionGrad is the operands of [PackedAttentionGrad]: gradients that are
// added to, the gradient of the result, and the forward pass's inputs.
type AttentionGrad struct {
	DQ, DK, DV, DY, Q, K, V []float32
}

// PackedAttentionGrad adds the gradients of one kv head of a segment. The
// softmax is computed anew, in float64, so that it needs neither result nor lse:
// with p the weights and g = dy·v, dv += p·dy, ds = p·(g − Σ p·g),
// dq += scale·ds·k, dk += scale·ds·q.
func PackedAttentionGrad(a AttentionGrad, h Heads, s Segment, kvHead int) {
	n := s.End - s.Start
	dk, dv := make([]float64, n*h.Dim), make([]float64, n*h.Dim)
	for i := s.Start; i < s.End; i++ {
		for _, head := range h.group(kvHead) {
			a.addQuery(dk, dv, h, s, i, kvHead, head)
		}
	}
	for j := range n {
		lo := ((s.Start+j)*h.KV + kvHead) * h.Dim
		addSums(a.DK[lo:][:h.Dim], dk[j*h.Dim:][:h.Dim])
		addSums(a.DV[lo:][:h.Dim], dv[j*h.Dim:][:h.Dim])
	}
}

func (a AttentionGrad) addQuery(dk, dv []float64, h Heads, s Segment, i, kvHead, head int) {
	at, lo := visibleRows(h, s, i, kvHead), (i*h.Query+head)*h.Dim
	q, dy := a.Q[lo:][:h.Dim], a.DY[lo:][:h.Dim]
	p, g, mean := make([]float64, len(at)), make([]float64, len(at)), 0.0
	logSumExp(p, q, a.K, at, s.Scale)
	for j, o := range at {
		p[j] = math.Exp(p[j])
		g[j] = dot64(dy, a.V[o:])
		mean += p[j] * g[j]
	}
	dq := make([]float64, h.Dim)
	for j, o := range at {
		ds := float64(s.Scale) * p[j] * (g[j] - mean)
		for d := range h.Dim {
			dv[j*h.Dim+d] += p[j] * float64(dy[d])
			dk[j*h.Dim+d] += ds * float64(q[d])
			dq[d] += ds * float64(a.K[o+d])
		}
	}
	addSums(a.DQ[lo:][:h.Dim], dq)
}
