package devicetest

import (
	"fmt"
	"math"
	"slices"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

// gradProducts cover tails of every loop, and sums longer than a block of them.
func gradProducts() []product {
	var all []product
	for _, dtype := range weightTypes {
		block, _ := dtype.Block()
		for _, k := range []int{1, 7, 33, 96} {
			k = (k + block - 1) / block * block
			for _, mn := range [][2]int{{0, 3}, {1, 1}, {1, 37}, {3, 5}, {7, 3}, {8, 48}, {29, 21}} {
				all = append(all, product{mn[0], mn[1], k, dtype})
			}
		}
		all = append(all, product{30, 530, 64, dtype})
	}
	return append(all,
		product{530, 40, 70, tensor.F32}, product{300, 9, 800, tensor.F32}, product{260, 300, 100, tensor.F32},
		product{5, 0, 3, tensor.F32})
}

func testMatMulGrad(h *trainer) {
	for _, p := range gradProducts() {
		what := fmt.Sprintf("%+v", p)
		x, dy, w := h.values(p.m*p.k), h.values(p.m*p.n), h.weights(p.dtype, p.n*p.k)
		in := h.put(dy, p.m, p.n)

		dx, want := h.gradient(p.m, p.k)
		h.d.MatMulGradX(dx, in, h.load(p.dtype, w, p.n, p.k))
		reference.MatMulGradX(want, dy, w, p.dtype, p.n, p.k, 0, p.m)
		h.near(h.read(dx), want, 2e-6*math.Sqrt(float64(p.n))+1e-6, what+": dx")

		dw, want := h.gradient(p.n, p.k)
		h.d.MatMulGradW(dw, in, h.put(x, p.m, p.k))
		reference.MatMulGradW(want, dy, x, p.m, p.n, p.k, 0, p.n)
		h.near(h.read(dw), want, 2e-6*math.Sqrt(float64(p.m))+1e-6, what+": dw")
	}
}

func testRMSNormGrad(h *trainer) {
	for _, rows := range []int{0, 1, 5, 1100} {
		for _, d := range rowLengths {
			what := fmt.Sprintf("%d rows of %d", rows, d)
			x, dy, weight := h.values(rows*d), h.values(rows*d), h.values(d)
			dx, wantX := h.gradient(rows, d)
			frozen := h.put(wantX, rows, d)
			dweight, wantWeight := h.gradient(d)
			in, g, w := h.put(x, rows, d), h.put(dy, rows, d), h.put(weight, d)
			h.d.RMSNormGrad(dx, dweight, g, in, w, 1e-5)
			h.d.RMSNormGrad(frozen, tensor.Tensor{}, g, in, w, 1e-5)
			reference.RMSNormGrad(wantX, wantWeight, dy, x, weight, 1e-5)
			h.near(h.read(dx), wantX, 1e-5, what+": dx")
			h.near(h.read(dweight), wantWeight, 1e-6*math.Sqrt(float64(rows))+1e-6, what+": dweight")
			h.same(h.read(frozen), h.read(dx), what+": dx without dweight")
		}
	}
}

func testSiLUMulGrad(h *trainer) {
	for _, n := range []int{0, 1, 16, 41, 3000} {
		gate, up, dy := h.values(n), h.values(n), h.values(n)
		for i := range gate {
			gate[i] *= 20
		}
		if n > 1 {
			gate[0], gate[n-1] = -200, 200
		}
		dgate, wantGate := h.gradient(n)
		dup, wantUp := h.gradient(n)
		h.d.SiLUMulGrad(dgate, dup, h.put(dy, n), h.put(gate, n), h.put(up, n))
		reference.SiLUMulGrad(wantGate, wantUp, dy, gate, up)
		h.near(h.read(dgate), wantGate, 3e-6, fmt.Sprintf("%d gates", n))
		h.near(h.read(dup), wantUp, 3e-6, fmt.Sprintf("%d ups", n))
	}
}

// testRoPEGrad turns back what was turned, by the negated frequencies.
func testRoPEGrad(h *trainer) {
	freq := []float32{1, 0.1, 0.01}
	back := []float32{-1, -0.1, -0.01}
	values := h.values(3 * 2 * 6)
	x, at := h.put(values, 3, 2, 6), h.ints(0, 5, 900)
	h.d.RoPE(x, at, h.put(freq, 3), 1)
	h.d.RoPE(x, at, h.put(back, 3), 1)
	h.near(h.read(x), values, 1e-6, "there and back")
}

// packedScene is the inputs of the attention of a packed batch.
type packedScene struct {
	q, k, v, dy []float32
	heads       reference.Heads
	starts      []int32
	scale       float32
}

func (h *trainer) newPackedScene(heads reference.Heads, starts ...int32) packedScene {
	n := int(starts[len(starts)-1])
	s := packedScene{heads: heads, starts: starts, scale: float32(1 / math.Sqrt(float64(heads.Dim)))}
	s.q, s.k, s.v = h.values(n*heads.Query*heads.Dim), h.values(n*heads.KV*heads.Dim), h.values(n*heads.KV*heads.Dim)
	s.dy = h.values(len(s.q))
	for i := range s.q {
		s.q[i] *= 3 // some weights far above the others
	}
	return s
}

// packedResult is what forward and backward compute.
type packedResult struct{ out, lse, dq, dk, dv []float32 }

// runPacked computes the scene on the device; gradients begin as the inputs.
func (h *trainer) runPacked(s packedScene) packedResult {
	h.Helper()
	return h.runPackedOnto(s, s.q, s.k, s.v)
}

// runPackedOnto computes the scene and adds the gradients to toQ, toK and toV.
func (h *trainer) runPackedOnto(s packedScene, toQ, toK, toV []float32) packedResult {
	h.Helper()
	n, b := int(s.starts[len(s.starts)-1]), tensor.PackedBatch{Starts: slices.Clone(s.starts), Scale: s.scale}
	query, key := []int{n, s.heads.Query, s.heads.Dim}, []int{n, s.heads.KV, s.heads.Dim}
	q, k, v, dy := h.put(s.q, query...), h.put(s.k, key...), h.put(s.v, key...), h.put(s.dy, query...)
	out, lse := h.new(tensor.F32, query...), h.new(tensor.F32, n, s.heads.Query)
	dq, dk, dv := h.put(toQ, query...), h.put(toK, key...), h.put(toV, key...)
	h.d.PackedAttention(out, lse, q, k, v, b)
	h.d.PackedAttentionGrad(dq, dk, dv, dy, out, lse, q, k, v, b)
	clear(b.Starts) // the device has its own copy
	return packedResult{h.read(out), h.read(lse), h.read(dq), h.read(dk), h.read(dv)}
}

// want computes the scene by the reference.
func (s packedScene) want() packedResult {
	r := packedResult{
		out: make([]float32, len(s.q)), lse: make([]float32, len(s.q)/s.heads.Dim),
		dq: slices.Clone(s.q), dk: slices.Clone(s.k), dv: slices.Clone(s.v),
	}
	grad := reference.AttentionGrad{DQ: r.dq, DK: r.dk, DV: r.dv, DY: s.dy, Q: s.q, K: s.k, V: s.v}
	for i, end := range s.starts[1:] {
		segment := reference.Segment{Start: int(s.starts[i]), End: int(end), Scale: s.scale}
		for kv := range s.heads.KV {
			reference.PackedAttention(r.out, r.lse, s.q, s.k, s.v, s.heads, segment, segment.Start, segment.End, kv)
			reference.PackedAttentionGrad(grad, s.heads, segment, kv)
		}
	}
	return r
}

// part returns the scene of one segment alone.
func (s packedScene) part(segment int) packedScene {
	lo, hi := int(s.starts[segment]), int(s.starts[segment+1])
	query, key := s.heads.Query*s.heads.Dim, s.heads.KV*s.heads.Dim
	s.q, s.dy = s.q[lo*query:hi*query], s.dy[lo*query:hi*query]
	s.k, s.v = s.k[lo*key:hi*key], s.v[lo*key:hi*key]
	s.starts = []int32{0, int32(hi - lo)}
	return s
}

func testPackedAttention(h *trainer) {
	scenes := []packedScene{h.newPackedScene(headLayouts[0], 0), h.newPackedScene(headLayouts[0], 0, 0, 0)}
	for _, heads := range headLayouts {
		scenes = append(scenes, h.newPackedScene(heads, 0, 1, 1, 38, 39, 71, 135))
	}
	// Longer than any block of queries or keys.
	scenes = append(scenes,
		h.newPackedScene(reference.Heads{Query: 6, KV: 2, Dim: 32}, 0, 33, 64),
		h.newPackedScene(reference.Heads{Query: 2, KV: 1, Dim: 12}, 0, 10, 600))
	for _, s := range scenes {
		what := fmt.Sprintf("%+v, segments at %v", s.heads, s.starts)
		got, want := h.runPacked(s), s.want()
		h.near(got.out, want.out, 1e-5, what+": out")
		h.near(got.lse, want.lse, 1e-5, what+": lse")
		h.near(got.dq, want.dq, 4e-5, what+": dq")
		h.near(got.dk, want.dk, 4e-5, what+": dk")
		h.near(got.dv, want.dv, 4e-5, what+": dv")
	}
}

// testPackedFirstRows looks at rows that see themselves alone: their weight is 1
// whatever their score, so no gradient goes to their query, nor to the key of a
// segment that has no other row.
func testPackedFirstRows(h *trainer) {
	for _, heads := range headLayouts {
		starts := []int32{0, 1, 2, 3, 40, 41, 180}
		s := h.newPackedScene(heads, starts...)
		got := h.runPackedOnto(s, make([]float32, len(s.q)), make([]float32, len(s.k)), make([]float32, len(s.v)))
		what := fmt.Sprintf("%+v, segments at %v: ", heads, starts)
		query, key := heads.Query*heads.Dim, heads.KV*heads.Dim
		for i, end := range starts[1:] {
			lo := int(starts[i])
			h.same(got.dq[lo*query:][:query], make([]float32, query), what+"dq")
			if int(end) == lo+1 {
				h.same(got.dk[lo*key:][:key], make([]float32, key), what+"dk")
			}
		}
	}
}

// testPackedSegmentsAlone computes each segment by itself: neighbours change no
// bit.
func testPackedSegmentsAlone(h *trainer) {
	for _, heads := range []reference.Heads{headLayouts[1], headLayouts[4]} {
		s := h.newPackedScene(heads, 0, 5, 70, 71)
		whole := h.runPacked(s)
		var parts packedResult
		for i := range s.starts[1:] {
			r := h.runPacked(s.part(i))
			parts.out, parts.lse = append(parts.out, r.out...), append(parts.lse, r.lse...)
			parts.dq, parts.dk, parts.dv = append(parts.dq, r.dq...), append(parts.dk, r.dk...), append(parts.dv, r.dv...)
		}
		h.same(parts.out, whole.out, "out")
		h.same(parts.lse, whole.lse, "lse")
		h.same(parts.dq, whole.dq, "dq")
		h.same(parts.dk, whole.dk, "dk")
		h.same(parts.dv, whole.dv, "dv")
	}
}
