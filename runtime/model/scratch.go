package model

import (
	"fmt"

	"github.com/coderl/cr/runtime/tensor"
)

// scratch is the memory of one step's activations, allocated once for the
// largest step.
type scratch struct {
	ids, positions, slots, out tensor.Tensor // I32
	x, normed, branch          tensor.Tensor // [rows, hidden]
	q, k, v, mixed             tensor.Tensor // [rows, heads·headDim]
	gate, up                   tensor.Tensor // [rows, ffn]
	last                       tensor.Tensor // [out, hidden]
	logits                     tensor.Tensor // [out, vocab]
	hostSlots                  []int32
}

// views are the first rows of the scratch memory, as one step sees them.
type views struct {
	ids, positions, slots              tensor.Tensor
	x, normed, branch                  tensor.Tensor
	q, k, v, mixed                     tensor.Tensor
	qHeads, kHeads, vHeads, mixedHeads tensor.Tensor // [rows, heads, headDim]
	gate, up                           tensor.Tensor
}

// newScratch allocates for steps of up to rows rows and out rows of logits.
func newScratch(dev tensor.Device, c Config, rows, out int) (scratch, error) {
	var err error
	alloc := func(dtype tensor.DType, shape ...int) tensor.Tensor {
		if err != nil {
			return tensor.Tensor{}
		}
		var t tensor.Tensor
		if t, err = dev.New(dtype, shape...); err != nil {
			err = fmt.Errorf("scratch memory %v: %w", shape, err)
		}
		return t
	}
	s := scratch{hostSlots: make([]int32, rows)}
	for _, t := range []*tensor.Tensor{&s.ids, &s.positions, &s.slots} {
		*t = alloc(tensor.I32, rows)
	}
	for _, t := range []*tensor.Tensor{&s.x, &s.normed, &s.branch} {
		*t = alloc(tensor.F32, rows, c.Hidden)
	}
	s.q, s.mixed = alloc(tensor.F32, rows, c.Heads*c.HeadDim), alloc(tensor.F32, rows, c.Heads*c.HeadDim)
	s.k, s.v = alloc(tensor.F32, rows, c.KVHeads*c.HeadDim), alloc(tensor.F32, rows, c.KVHeads*c.HeadDim)
	s.gate, s.up = alloc(tensor.F32, rows, c.FFN), alloc(tensor.F32, rows, c.FFN)
	s.out = alloc(tensor.I32, out)
	s.last, s.logits = alloc(tensor.F32, out, c.Hidden), alloc(tensor.F32, out, c.Vocab)
	return s, err
}

// views returns the first n rows.
func (s *scratch) views(c Config, n int) views {
	v := views{
		ids: s.ids.Rows(0, n), positions: s.positions.Rows(0, n), slots: s.slots.Rows(0, n),
		x: s.x.Rows(0, n), normed: s.normed.Rows(0, n), branch: s.branch.Rows(0, n),
		q: s.q.Rows(0, n), k: s.k.Rows(0, n), v: s.v.Rows(0, n), mixed: s.mixed.Rows(0, n),
		gate: s.gate.Rows(0, n), up: s.up.Rows(0, n),
	}
	v.qHeads, v.mixedHeads = v.q.Reshape(n, c.Heads, c.HeadDim), v.mixed.Reshape(n, c.Heads, c.HeadDim)
	v.kHeads, v.vHeads = v.k.Reshape(n, c.KVHeads, c.HeadDim), v.v.Reshape(n, c.KVHeads, c.HeadDim)
	return v
}

// slotsOf returns the cache row of each batch row.
func (s *scratch) slotsOf(b Batch) []int32 {
	slots := s.hostSlots[:len(b.IDs)]
	for i, p := range b.Pos {
		slots[i] = b.Pages[b.Seq[i]][p/tensor.PageSize]*tensor.PageSize + p%tensor.PageSize
	}
	return slots
}
