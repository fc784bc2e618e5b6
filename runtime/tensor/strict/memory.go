package strict

import (
	"fmt"
	"math"
	"slices"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

// memory is one allocation. F32 lives in floats and I32 in ints; weights keep
// their bytes, and their values too where those are F32.
type memory struct {
	dev    *Device
	dtype  tensor.DType
	floats []float32
	ints   []int32
	bytes  []byte
	weight bool
	freed  bool // as the caller sees it; queued work may still run
}

func newMemory(dtype tensor.DType, n int) *memory {
	m := &memory{dtype: dtype}
	switch dtype {
	case tensor.F32:
		m.floats = make([]float32, n)
	case tensor.I32:
		m.ints = make([]int32, n)
	default:
		m.bytes = make([]byte, dtype.Bytes(n))
	}
	return m
}

func loadMemory(h tensor.Host, n int) *memory {
	m := &memory{dtype: h.DType, bytes: slices.Clone(h.Data), weight: true}
	switch h.DType {
	case tensor.F32:
		m.floats = make([]float32, n)
		reference.Decode(m.floats, tensor.F32, h.Data)
	case tensor.I32:
		m.ints = make([]int32, n)
		for i := range m.ints {
			b := h.Data[4*i:]
			m.ints[i] = int32(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
		}
	}
	return m
}

// Free makes later use an error, and overwrites the values once the work queued
// before it has run.
func (m *memory) Free() {
	d := m.dev
	defer d.enter()()
	if d.closed {
		return
	}
	if m.freed {
		d.put(nil, fmt.Errorf("%w: freed twice", ErrFreed))
		return
	}
	m.freed = true
	delete(d.live, m)
	d.put(func() error {
		for i := range m.floats {
			m.floats[i] = float32(math.NaN())
		}
		for i := range m.ints {
			m.ints[i] = math.MinInt32
		}
		clear(m.bytes)
		return nil
	})
}

// view is a tensor's part of a memory.
type view struct {
	mem    *memory
	lo, hi int // elements
	floats []float32
	ints   []int32
	bytes  []byte
}

// view returns what t sees, or the misuse.
func (d *Device) view(op string, t tensor.Tensor) (view, error) {
	m, ok := t.Mem.(*memory)
	if !ok || m.dev != d {
		return view{}, fmt.Errorf("%s: %v %v: %w", op, t.DType, t.Shape, ErrForeign)
	}
	if m.freed {
		return view{}, fmt.Errorf("%s: %v %v: %w", op, t.DType, t.Shape, ErrFreed)
	}
	v := view{mem: m, lo: t.Offset, hi: t.Offset + t.Len()}
	if t.DType != m.dtype || v.lo < 0 || v.hi < v.lo || v.hi > m.len() {
		return view{}, fmt.Errorf("%s: %v %v at element %d of %d: %w", op, t.DType, t.Shape, t.Offset, m.len(), ErrBounds)
	}
	if m.floats != nil {
		v.floats = m.floats[v.lo:v.hi]
	}
	if m.ints != nil {
		v.ints = m.ints[v.lo:v.hi]
	}
	if m.bytes != nil {
		v.bytes = m.bytes[m.dtype.Bytes(v.lo):m.dtype.Bytes(v.hi)]
	}
	return v, nil
}

// written is view for a tensor that is written.
func (d *Device) written(op string, t tensor.Tensor) (view, error) {
	v, err := d.view(op, t)
	if err == nil && v.mem.weight {
		return view{}, fmt.Errorf("%s: %v %v: %w", op, t.DType, t.Shape, ErrWeight)
	}
	return v, err
}

// len returns the number of elements.
func (m *memory) len() int {
	switch m.dtype {
	case tensor.F32:
		return len(m.floats)
	case tensor.I32:
		return len(m.ints)
	}
	elements, size := m.dtype.Block()
	return len(m.bytes) / size * elements
}

// stored returns the bytes of a weight, those of an F32 tensor encoded.
func (v view) stored() []byte {
	if v.bytes != nil {
		return v.bytes
	}
	b := make([]byte, 0, 4*len(v.floats))
	for _, f := range v.floats {
		u := math.Float32bits(f)
		b = append(b, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
	}
	return b
}

// meet reports two views that share elements.
func meet(a, b view) bool {
	return a.mem == b.mem && a.lo < b.hi && b.lo < a.hi
}

// overlap reports two views that share elements and are not one.
func overlap(a, b view) bool {
	return meet(a, b) && (a.lo != b.lo || a.hi != b.hi)
}
