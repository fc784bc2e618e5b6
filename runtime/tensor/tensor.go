// Package tensor is the seam between models and devices: shapes, element
// types, opaque device memory, and the operations a decoder is made of.
//
// A model is written once against [Device]; a new accelerator is one new
// implementation of it. Operations do not return errors: they are queued, the
// first failure sticks, and [Device.Sync] and [Device.Read] report it. That
// keeps a model's graph as readable as its paper, and lets a device run behind
// the host.
package tensor

import "fmt"

// DType is the storage type of a tensor's elements.
type DType uint8

// The element types. The Q types are GGUF's blocks of 32 values along the last
// dimension.
const (
	F32 DType = iota
	F16
	BF16
	I32
	Q8_0
	Q4_0
	Q4_1
)

// String returns the name used in files and messages.
func (d DType) String() string {
	names := [...]string{"F32", "F16", "BF16", "I32", "Q8_0", "Q4_0", "Q4_1"}
	if int(d) < len(names) {
		return names[d]
	}
	return fmt.Sprintf("DType(%d)", uint8(d))
}

// Block returns how many elements are stored together, and in how many bytes.
func (d DType) Block() (elements, bytes int) {
	switch d {
	case F32, I32:
		return 1, 4
	case F16, BF16:
		return 1, 2
	case Q8_0:
		return 32, 34
	case Q4_0:
		return 32, 18
	case Q4_1:
		return 32, 20
	}
	return 1, 0
}

// Bytes returns the storage of n elements; n is a multiple of the block.
func (d DType) Bytes(n int) int {
	elements, bytes := d.Block()
	return n / elements * bytes
}

// Memory is a device's own handle to an allocation. Only that device looks
// inside.
type Memory interface {
	// Free returns the memory. Using it afterwards is an error that a strict
	// device reports. Free on memory that wraps a file mapping does not unmap.
	Free()
}

// Tensor is a view of device memory: row-major, the last dimension contiguous.
// It is a small value; copies share the memory.
type Tensor struct {
	DType  DType
	Shape  []int
	Mem    Memory
	Offset int // elements from the start of Mem
}

// Len returns the number of elements.
func (t Tensor) Len() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Rows returns the view of rows [lo, hi) of the first dimension.
func (t Tensor) Rows(lo, hi int) Tensor {
	stride := 1
	for _, d := range t.Shape[1:] {
		stride *= d
	}
	shape := append([]int{hi - lo}, t.Shape[1:]...)
	return Tensor{DType: t.DType, Shape: shape, Mem: t.Mem, Offset: t.Offset + lo*stride}
}

// Reshape returns the same elements under another shape of equal length.
func (t Tensor) Reshape(shape ...int) Tensor {
	r := Tensor{DType: t.DType, Shape: shape, Mem: t.Mem, Offset: t.Offset}
	if r.Len() != t.Len() {
		panic(fmt.Sprintf("tensor: reshape %v to %v", t.Shape, shape))
	}
	return r
}

// Free releases the whole underlying memory, whatever part t views.
func (t Tensor) Free() {
	if t.Mem != nil {
		t.Mem.Free()
	}
}

// Host is a tensor in host memory, usually a slice of a mapped weight file:
// little-endian elements or blocks, row-major.
type Host struct {
	DType DType
	Shape []int
	Data  []byte
}
