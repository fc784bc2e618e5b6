package model

import (
	"fmt"

	"github.com/coderl/cr/runtime/tensor"
)

// scratch is the memory of one step's values, allocated once for the largest
// step.
type scratch struct {
	ids, positions, slots, out tensor.Tensor // I32
	x                          tensor.Tensor // [rows, hidden], the residual stream
	last                       tensor.Tensor // [out, hidden], of the last block
	branch                     tensor.Tensor // [elements], all values of one branch
	taken                      int           // elements of branch in use
	logits                     tensor.Tensor // [out, vocab]
	hostSlots                  []int32
}

// scratchAlign is where values begin: on cache lines, in elements.
const scratchAlign = 16

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
	s.out = alloc(tensor.I32, out)
	s.x, s.last = alloc(tensor.F32, rows, c.Hidden), alloc(tensor.F32, out, c.Hidden)
	s.branch = alloc(tensor.F32, branchElements(c, rows, out))
	s.logits = alloc(tensor.F32, out, c.Vocab)
	return s, err
}

// branchElements bounds what one branch takes: attention's norm, keys, values,
// queries, mix and output, and the last layer's narrowed norm; or the feed
// forward's norm, two gates and output.
func branchElements(c Config, rows, out int) int {
	queries, keys := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	const values = 7
	attention := rows*(2*c.Hidden+2*queries+2*keys) + out*c.Hidden
	mlp := rows * (2*c.Hidden + 2*c.FFN)
	return max(attention, mlp) + values*scratchAlign
}

// take returns memory of the branch for a value of this shape.
func (s *scratch) take(shape ...int) tensor.Tensor {
	t := tensor.Tensor{DType: tensor.F32, Shape: shape, Mem: s.branch.Mem, Offset: s.taken}
	s.taken += (t.Len() + scratchAlign - 1) / scratchAlign * scratchAlign
	return t
}

func (s *scratch) free() {
	for _, t := range []tensor.Tensor{s.ids, s.positions, s.slots, s.out, s.x, s.last, s.branch, s.logits} {
		t.Free()
	}
}

// reset takes all memory of the branch back.
func (s *scratch) reset() { s.taken = 0 }

// slotsOf returns the cache row of each batch row.
func (s *scratch) slotsOf(b Batch) []int32 {
	slots := s.hostSlots[:len(b.IDs)]
	for i, p := range b.Pos {
		slots[i] = b.Pages[b.Seq[i]][p/tensor.PageSize]*tensor.PageSize + p%tensor.PageSize
	}
	return slots
}
