package devicetest

import (
	"errors"

	"github.com/coderl/cr/runtime/tensor"
)

// testShapeErrors calls each operation on operands that do not fit, and expects
// the error of that operation, once.
func testShapeErrors(h *harness) {
	a, b, v := h.new(tensor.F32, 2, 4), h.new(tensor.F32, 3, 5), h.new(tensor.F32, 6)
	cube, ids := h.new(tensor.F32, 2, 3, 6), h.ints(0, 1)
	cache := tensor.KV{K: h.new(tensor.F32, 2*tensor.PageSize, 2, 6), V: h.new(tensor.F32, 2*tensor.PageSize, 2, 6)}
	one := tensor.AttentionBatch{Seq: []int32{0}, Pos: []int32{0}, Pages: [][]int32{{0}}}
	calls := map[string]func(){
		"Embed":     func() { h.d.Embed(a, b, ids) },
		"RMSNorm":   func() { h.d.RMSNorm(a, a, v, 1e-5) },
		"MatMul":    func() { h.d.MatMul(a, a, b) },
		"Add":       func() { h.d.Add(a, a, b) },
		"SiLUMul":   func() { h.d.SiLUMul(a, a, b) },
		"RoPE":      func() { h.d.RoPE(cube, ids, v, 1) },
		"CopyRows":  func() { h.d.CopyRows(a, b, ids) },
		"StoreRows": func() { h.d.StoreRows(b, a, ids) },
		"Attention": func() { h.d.Attention(cube, cube, cache, one) },
	}
	for op, call := range calls {
		call()
		err := h.d.Sync()
		var shape *tensor.ShapeError
		if !errors.As(err, &shape) || shape.Op != op {
			h.Errorf("%s on operands that do not fit: %v", op, err)
		}
		if err := h.d.Sync(); err != nil {
			h.Errorf("%s: reported again: %v", op, err)
		}
	}
}

// testDataErrors gives operations indices that point outside, and weights to
// write to.
func testDataErrors(h *harness) {
	table := h.load(tensor.F32, make([]byte, 4*3*4), 3, 4)
	x, two := h.new(tensor.F32, 2, 4), h.new(tensor.F32, 3, 4)
	q := h.new(tensor.F32, 1, 2, 8)
	cache := tensor.KV{K: h.new(tensor.F32, tensor.PageSize, 1, 8), V: h.new(tensor.F32, tensor.PageSize, 1, 8)}
	attend := func(seq, pos int32, pages ...int32) func() {
		b := tensor.AttentionBatch{Seq: []int32{seq}, Pos: []int32{pos}, Pages: [][]int32{pages}}
		return func() { h.d.Attention(q, q, cache, b) }
	}
	calls := map[string]func(){
		"Embed outside the table":     func() { h.d.Embed(x, table, h.ints(0, 3)) },
		"CopyRows of a negative row":  func() { h.d.CopyRows(x, two, h.ints(0, -1)) },
		"StoreRows past the end":      func() { h.d.StoreRows(two, x, h.ints(3, 0)) },
		"Write to a weight":           func() { h.d.Write(table, make([]float32, 12)) },
		"Add into a weight":           func() { h.d.Add(table, table, table) },
		"StoreRows into a weight":     func() { h.d.StoreRows(table, x, h.ints(0, 1)) },
		"Write of too few":            func() { h.d.Write(x, make([]float32, 7)) },
		"WriteInts to F32":            func() { h.d.WriteInts(x, make([]int32, 8)) },
		"Attention without a list":    attend(1, 0, 0),
		"Attention past its pages":    attend(0, tensor.PageSize, 0),
		"Attention outside the cache": attend(0, 0, 1),
		"a tensor without memory":     func() { h.d.Add(x, x, tensor.Tensor{Shape: []int{2, 4}}) },
		"a view past the end":         func() { h.d.Add(x, x, two.Rows(2, 4)) },
	}
	for name, call := range calls {
		call()
		if err := h.d.Sync(); err == nil {
			h.Errorf("%s: no error", name)
		}
	}
}

// testFirstErrorSticks wants the first of two errors, from Read, and no effect
// of what came between.
func testFirstErrorSticks(h *harness) {
	a, b := h.put([]float32{1, 2}, 1, 2), h.new(tensor.F32, 3)
	h.d.RMSNorm(a, a, b, 1e-5)
	h.d.Add(a, a, b)
	h.d.Add(a, a, a)
	var shape *tensor.ShapeError
	if err := h.d.Read(make([]float32, 2), a); !errors.As(err, &shape) || shape.Op != "RMSNorm" {
		h.Errorf("first error: %v", err)
	}
	h.same(h.read(a), []float32{1, 2}, "after the error")
	h.d.Add(a, a, a)
	h.same(h.read(a), []float32{2, 4}, "once reported")
}
