package devicetest

import (
	"fmt"
	"math"
	"slices"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

// product is a matrix product's inputs.
type product struct {
	m, n, k int
	dtype   tensor.DType
}

// oddProducts cover tails of every loop: rows, columns and sums that fill no
// tile or vector, and one of each that does.
func oddProducts() []product {
	var all []product
	for _, dtype := range weightTypes {
		block, _ := dtype.Block()
		for _, k := range []int{1, 7, 16, 31, 33, 96, 545} {
			k = (k + block - 1) / block * block
			for _, mn := range [][2]int{{1, 1}, {1, 37}, {2, 9}, {3, 5}, {4, 18}, {5, 64}, {7, 3}, {29, 21}} {
				all = append(all, product{mn[0], mn[1], k, dtype})
			}
		}
	}
	// Wide enough for several threads and several panels.
	return append(all, product{1, 700, 576, tensor.Q4_1}, product{13, 300, 1536, tensor.Q8_0}, product{9, 150, 2055, tensor.BF16})
}

func testMatMul(h *harness) {
	for _, p := range oddProducts() {
		x, w := h.values(p.m*p.k), h.weights(p.dtype, p.n*p.k)
		dst := h.new(tensor.F32, p.m, p.n)
		h.d.MatMul(dst, h.put(x, p.m, p.k), h.load(p.dtype, w, p.n, p.k))
		want := make([]float32, p.m*p.n)
		reference.MatMul(want, x, w, p.dtype, p.m, p.n, p.k, 0, p.n)
		// A sum of k products of unit normals is off by some 2⁻²⁴·k at worst.
		h.near(h.read(dst), want, 1e-6*math.Sqrt(float64(p.k))+1e-6, fmt.Sprintf("%+v", p))
	}
}

func testMatMulRowsAlone(h *harness) {
	for _, p := range oddProducts() {
		x := h.put(h.values(p.m*p.k), p.m, p.k)
		w := h.load(p.dtype, h.weights(p.dtype, p.n*p.k), p.n, p.k)
		whole := h.new(tensor.F32, p.m, p.n)
		h.d.MatMul(whole, x, w)
		for _, step := range []int{1, 2, 3, 4, 6} {
			parts := h.new(tensor.F32, p.m, p.n)
			for lo := 0; lo < p.m; lo += step {
				hi := min(p.m, lo+step)
				h.d.MatMul(parts.Rows(lo, hi), x.Rows(lo, hi), w)
			}
			h.same(h.read(parts), h.read(whole), fmt.Sprintf("%+v by %d rows", p, step))
		}
	}
}

func testEmbed(h *harness) {
	for _, dtype := range weightTypes {
		block, _ := dtype.Block()
		const vocab = 11
		k := 3 * 32 / block * block
		if block == 1 {
			k = 41
		}
		w := h.weights(dtype, vocab*k)
		ids := []int32{10, 0, 3, 3}
		dst := h.new(tensor.F32, len(ids), k)
		h.d.Embed(dst, h.load(dtype, w, vocab, k), h.ints(ids...))
		want, stride := make([]float32, len(ids)*k), dtype.Bytes(k)
		for i, id := range ids {
			reference.Decode(want[i*k:][:k], dtype, w[int(id)*stride:])
		}
		h.same(h.read(dst), want, dtype.String())
	}
}

// rowLengths fill vectors, or do not.
var rowLengths = [...]int{1, 15, 16, 17, 100, 576}

func testRMSNorm(h *harness) {
	for _, d := range rowLengths {
		const rows = 5
		x, weight := h.values(rows*d), h.values(d)
		dst, in := h.new(tensor.F32, rows, d), h.put(x, rows, d)
		w := h.put(weight, d)
		h.d.RMSNorm(dst, in, w, 1e-5)
		want := make([]float32, rows*d)
		reference.RMSNorm(want, x, weight, 1e-5)
		h.near(h.read(dst), want, 2e-6, fmt.Sprintf("%d wide", d))
		alone := h.new(tensor.F32, 1, d)
		h.d.RMSNorm(alone, in.Rows(3, 4), w, 1e-5)
		h.same(h.read(alone), h.read(dst.Rows(3, 4)), "one row")
	}
}

func testAdd(h *harness) {
	for _, d := range rowLengths {
		const rows = 3
		a, b := h.values(rows*d), h.values(rows*d)
		dst, want := h.new(tensor.F32, rows, d), make([]float32, rows*d)
		h.d.Add(dst, h.put(a, rows, d), h.put(b, rows, d))
		reference.Add(want, a, b)
		h.same(h.read(dst), want, fmt.Sprintf("%d rows of %d", rows, d))
		h.d.Add(dst, h.put(a, rows, d), h.put(b[:d], d))
		reference.Add(want, a, b[:d])
		h.same(h.read(dst), want, fmt.Sprintf("one row of %d", d))
	}
}

func testSiLUMul(h *harness) {
	for _, d := range rowLengths {
		gate, up := h.values(3*d), h.values(3*d)
		for i := range gate {
			gate[i] *= 20
		}
		gate[0], gate[len(gate)-1] = -200, 200
		dst := h.new(tensor.F32, 3, d)
		h.d.SiLUMul(dst, h.put(gate, 3, d), h.put(up, 3, d))
		want := make([]float32, 3*d)
		reference.SiLUMul(want, gate, up)
		h.near(h.read(dst), want, 1e-6, fmt.Sprintf("%d wide", d))
	}
}

func testRoPE(h *harness) {
	for _, half := range []int{1, 4, 15, 32, 64} {
		const n, heads = 3, 3
		positions, freq := []int32{0, 7, 40000}, make([]float32, half)
		for i := range freq {
			freq[i] = float32(math.Pow(10000, -float64(i)/float64(half)))
		}
		x := h.values(n * heads * 2 * half)
		got := h.put(x, n, heads, 2*half)
		h.d.RoPE(got, h.ints(positions...), h.put(freq, half), 1.25)
		cos, sin := make([]float32, n*half), make([]float32, n*half)
		reference.RoPETable(cos, sin, positions, freq, 1.25)
		want := slices.Clone(x)
		reference.RoPE(want, cos, sin, heads, half)
		h.near(h.read(got), want, 1e-6, fmt.Sprintf("half %d", half))
	}
}

func testRows(h *harness) {
	src := h.values(5 * 7)
	dst := h.new(tensor.F32, 3, 7)
	h.d.CopyRows(dst, h.put(src, 5, 7), h.ints(4, 0, 4))
	h.same(h.read(dst), slices.Concat(src[28:35], src[:7], src[28:35]), "CopyRows")
	old := h.values(5 * 6)
	into := h.put(old, 5, 2, 3)
	h.d.StoreRows(into, h.put(src[:12], 2, 6), h.ints(3, 1))
	h.same(h.read(into), slices.Concat(old[:6], src[6:12], old[12:18], src[:6], old[24:]), "StoreRows")
}

// testInPlace gives dst the view of an input wherever the shapes allow it.
func testInPlace(h *harness) {
	const n = 32
	x, y, weight := h.values(n*n), h.values(n*n), h.values(n)
	b, w := h.put(y, n, n), h.put(weight, n)
	order := h.ints(rotated(n)...)
	ops := map[string]func(dst, src tensor.Tensor){
		"RMSNorm":      func(dst, src tensor.Tensor) { h.d.RMSNorm(dst, src, w, 1e-6) },
		"MatMul":       func(dst, src tensor.Tensor) { h.d.MatMul(dst, src, b) },
		"Add":          func(dst, src tensor.Tensor) { h.d.Add(dst, src, b) },
		"Add right":    func(dst, src tensor.Tensor) { h.d.Add(dst, b, src) },
		"SiLUMul gate": func(dst, src tensor.Tensor) { h.d.SiLUMul(dst, src, b) },
		"SiLUMul up":   func(dst, src tensor.Tensor) { h.d.SiLUMul(dst, b, src) },
		"CopyRows":     func(dst, src tensor.Tensor) { h.d.CopyRows(dst, src, order) },
		"StoreRows":    func(dst, src tensor.Tensor) { h.d.StoreRows(dst, src, order) },
	}
	for name, op := range ops {
		dst, same := h.new(tensor.F32, n, n), h.put(x, n, n)
		op(dst, h.put(x, n, n))
		op(same, same)
		h.same(h.read(same), h.read(dst), name)
	}
}

func rotated(n int) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32((i + 5) % n)
	}
	return order
}

func testViews(h *harness) {
	x := h.put(h.values(6*8), 6, 8)
	w := h.load(tensor.Q8_0, h.weights(tensor.Q8_0, 9*32), 9, 32)
	all, part := h.new(tensor.F32, 6, 4), h.new(tensor.F32, 6, 4)
	weight := h.put(h.values(4*8), 4, 8)
	h.d.MatMul(all, x, weight)
	h.d.MatMul(part.Rows(2, 5), x.Rows(2, 5), weight)
	h.same(h.read(part.Rows(2, 5)), h.read(all.Rows(2, 5)), "rows 2 to 5")
	h.same(h.read(part.Rows(0, 2)), make([]float32, 8), "rows outside the view")

	in := h.put(h.values(64), 2, 32)
	whole, some := h.new(tensor.F32, 2, 9), h.new(tensor.F32, 2, 3)
	h.d.MatMul(whole, in, w)
	h.d.MatMul(some, in, w.Rows(4, 7))
	full := h.read(whole)
	h.same(h.read(some), slices.Concat(full[4:7], full[13:16]), "rows of a weight")
}
