package cpu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

// ErrMemory is the use of memory that was freed, that another device owns, or
// that is shorter than the view of it.
var ErrMemory = errors.New("cpu: bad memory")

// cacheLine is the alignment of what New allocates, in bytes.
const cacheLine = 64

// memory is ordinary host memory: the garbage collector's, the system's, or the
// caller's weight bytes.
type memory struct {
	dev    *Device
	data   []byte
	weight bool // the caller's bytes, often a read-only mapping
}

// Free forgets the bytes: the collector takes small allocations, the system
// large ones.
func (m *memory) Free() {
	m.dev.unmap(m)
	m.data = nil
}

// New allocates a zeroed tensor on a cache line boundary.
func (d *Device) New(dtype tensor.DType, shape ...int) (tensor.Tensor, error) {
	t := tensor.Tensor{DType: dtype, Shape: slices.Clone(shape)}
	elements, size := dtype.Block()
	if n := t.Len(); size == 0 || n < 0 || n%elements != 0 {
		return tensor.Tensor{}, fmt.Errorf("cpu: allocate %v %v: not a whole number of blocks", dtype, shape)
	}
	m := &memory{dev: d}
	t.Mem = m
	if n := dtype.Bytes(t.Len()); n < mapFrom {
		m.data = alignedBytes(n)
	} else if err := d.mapped(m, n); err != nil {
		return tensor.Tensor{}, fmt.Errorf("cpu: allocate %d MiB: %w", n>>20, err)
	}
	return t, nil
}

// alignedBytes returns n zeroed bytes that begin on a cache line.
func alignedBytes(n int) []byte {
	buf := make([]byte, n+cacheLine)
	skip := -int(uintptr(unsafe.Pointer(&buf[0]))) & (cacheLine - 1)
	return buf[skip : skip+n : skip+n]
}

// Load makes the host's bytes a weight, without a copy.
func (d *Device) Load(h tensor.Host) (tensor.Tensor, error) {
	if err := tensor.CheckHost(h); err != nil {
		return tensor.Tensor{}, err
	}
	m := &memory{dev: d, data: h.Data, weight: true}
	return tensor.Tensor{DType: h.DType, Shape: slices.Clone(h.Shape), Mem: m}, nil
}

// Write copies values into dst.
func (d *Device) Write(dst tensor.Tensor, values []float32) {
	b := d.output("Write", dst)
	if dst.DType != tensor.F32 || len(values) != dst.Len() {
		d.fail(&tensor.ShapeError{Op: "Write", Why: fmt.Sprintf("%d float32 values for %v %v", len(values), dst.DType, dst.Shape)})
	}
	if d.err == nil {
		copy(floatsOf(b), values)
	}
}

// WriteInts copies values into dst.
func (d *Device) WriteInts(dst tensor.Tensor, values []int32) {
	b := d.output("WriteInts", dst)
	if dst.DType != tensor.I32 || len(values) != dst.Len() {
		d.fail(&tensor.ShapeError{Op: "WriteInts", Why: fmt.Sprintf("%d int32 values for %v %v", len(values), dst.DType, dst.Shape)})
	}
	if d.err == nil {
		copy(intsOf(b), values)
	}
}

// Read copies src out, or returns the first error since the last Sync or Read.
func (d *Device) Read(values []float32, src tensor.Tensor) error {
	b := d.input("Read", src)
	if src.DType != tensor.F32 || len(values) != src.Len() {
		d.fail(&tensor.ShapeError{Op: "Read", Why: fmt.Sprintf("%d float32 values from %v %v", len(values), src.DType, src.Shape)})
	}
	if d.err == nil {
		copy(values, floatsOf(b))
	}
	return d.Sync()
}

// input returns the bytes of t, or fails.
func (d *Device) input(op string, t tensor.Tensor) []byte {
	m, ok := t.Mem.(*memory)
	switch {
	case !ok || m.dev != d:
		d.fail(fmt.Errorf("%w: %s: %v %v belongs to another device", ErrMemory, op, t.DType, t.Shape))
	case d.closed:
		d.fail(fmt.Errorf("%w: %s: the device is closed", ErrMemory, op))
	default:
		lo, n := t.DType.Bytes(t.Offset), t.DType.Bytes(t.Len())
		if lo >= 0 && n >= 0 && lo+n <= len(m.data) {
			return m.data[lo : lo+n : lo+n]
		}
		d.fail(fmt.Errorf("%w: %s: %v %v at element %d lies outside its %d bytes (0 when freed)",
			ErrMemory, op, t.DType, t.Shape, t.Offset, len(m.data)))
	}
	return nil
}

// output is input for a tensor that is written.
func (d *Device) output(op string, t tensor.Tensor) []byte {
	if m, ok := t.Mem.(*memory); ok && m.weight {
		d.fail(fmt.Errorf("%w: %s: writes to a weight, %v %v", ErrMemory, op, t.DType, t.Shape))
		return nil
	}
	return d.input(op, t)
}

// floatsOf views F32 bytes as values; bytes of a file that are not aligned for
// that are decoded into a copy, which only small operands (norms, biases) meet.
func floatsOf(b []byte) []float32 {
	if len(b) == 0 {
		return nil
	}
	if uintptr(unsafe.Pointer(&b[0]))%4 != 0 {
		values := make([]float32, len(b)/4)
		reference.Decode(values, tensor.F32, b)
		return values
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), len(b)/4)
}

// intsOf is floatsOf for I32.
func intsOf(b []byte) []int32 {
	if len(b) == 0 {
		return nil
	}
	if uintptr(unsafe.Pointer(&b[0]))%4 != 0 {
		values := make([]int32, len(b)/4)
		for i := range values {
			values[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
		}
		return values
	}
	return unsafe.Slice((*int32)(unsafe.Pointer(&b[0])), len(b)/4)
}

// overlap reports whether two views share an element.
func overlap(a, b []float32) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	a0, b0 := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return a0 < b0+uintptr(4*len(b)) && b0 < a0+uintptr(4*len(a))
}

// apart returns src, or a copy of it where dst overlaps it.
func apart(dst, src []float32) []float32 {
	if overlap(dst, src) {
		return slices.Clone(src)
	}
	return src
}
