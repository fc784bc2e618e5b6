// Package strict is a tensor device for tests, the strictest that the words of
// [tensor.Device] allow: it runs nothing before Sync or Read, keeps its memory
// to itself, copies what it loads, and overwrites what is freed with NaN. It
// reports use after free, double free, writes to weights, operands that overlap
// without being one view, and use by two goroutines at once. Values come from
// runtime/tensor/reference.
package strict

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/coderl/cr/runtime/tensor"
)

// The misuses that the device reports, through Sync or Read.
var (
	ErrFreed      = errors.New("strict: memory was freed")
	ErrForeign    = errors.New("strict: memory of another device")
	ErrBounds     = errors.New("strict: view outside its memory")
	ErrWeight     = errors.New("strict: write to a weight")
	ErrOverlap    = errors.New("strict: operands overlap without being one view")
	ErrClosed     = errors.New("strict: device is closed")
	ErrConcurrent = errors.New("strict: device used by two goroutines at once")
)

// Device is the strict device. It implements [tensor.Device].
type Device struct {
	queue  []func() error // run in order by Sync and Read, up to the first error
	live   map[*memory]bool
	closed bool
	busy   atomic.Bool // a call is in progress
	raced  atomic.Bool // and another came meanwhile
}

var _ tensor.Device = (*Device)(nil)

// New opens a device.
func New() *Device {
	return &Device{live: map[*memory]bool{}}
}

// Name returns "strict".
func (d *Device) Name() string { return "strict" }

// Live returns the number of allocations and weights that are not freed, so
// that a test can look for leaks.
func (d *Device) Live() int { return len(d.live) }

// Queued returns the number of calls that wait for Sync or Read.
func (d *Device) Queued() int { return len(d.queue) }

// enter notes a call in progress; the caller defers what it returns.
func (d *Device) enter() func() {
	if !d.busy.CompareAndSwap(false, true) {
		d.raced.Store(true)
		return func() {}
	}
	return func() { d.busy.Store(false) }
}

// put queues run, or the first of errs that is not nil in its place.
func (d *Device) put(run func() error, errs ...error) {
	if d.closed {
		errs = append([]error{ErrClosed}, errs...)
	}
	for _, err := range errs {
		if err != nil {
			run = func() error { return err }
			break
		}
	}
	d.queue = append(d.queue, run)
}

// flush runs the queue and returns its first error; what follows that error is
// dropped.
func (d *Device) flush() error {
	queue := d.queue
	d.queue = nil
	if d.raced.Swap(false) {
		return ErrConcurrent
	}
	for _, run := range queue {
		if err := run(); err != nil {
			return err
		}
	}
	return nil
}

// Sync runs the queue and returns its first error.
func (d *Device) Sync() error {
	defer d.enter()()
	return d.flush()
}

// Close runs the queue and forgets all memory.
func (d *Device) Close() error {
	defer d.enter()()
	err := d.flush()
	d.closed = true
	for m := range d.live {
		m.freed = true
	}
	clear(d.live)
	return err
}

// New allocates a zeroed tensor.
func (d *Device) New(dtype tensor.DType, shape ...int) (tensor.Tensor, error) {
	defer d.enter()()
	t := tensor.Tensor{DType: dtype, Shape: slices.Clone(shape)}
	elements, size := dtype.Block()
	if n := t.Len(); size == 0 || n < 0 || n%elements != 0 {
		return tensor.Tensor{}, fmt.Errorf("strict: allocate %v %v: not a whole number of blocks", dtype, shape)
	}
	if d.closed {
		return tensor.Tensor{}, ErrClosed
	}
	t.Mem = d.remember(newMemory(dtype, t.Len()))
	return t, nil
}

// Load copies a weight.
func (d *Device) Load(h tensor.Host) (tensor.Tensor, error) {
	defer d.enter()()
	if err := tensor.CheckHost(h); err != nil {
		return tensor.Tensor{}, err
	}
	if d.closed {
		return tensor.Tensor{}, ErrClosed
	}
	t := tensor.Tensor{DType: h.DType, Shape: slices.Clone(h.Shape)}
	t.Mem = d.remember(loadMemory(h, t.Len()))
	return t, nil
}

func (d *Device) remember(m *memory) *memory {
	m.dev = d
	d.live[m] = true
	return m
}

// Write queues a copy of values.
func (d *Device) Write(dst tensor.Tensor, values []float32) {
	defer d.enter()()
	values = slices.Clone(values)
	out, err := d.written("Write", dst)
	d.put(func() error { copy(out.floats, values); return nil }, err, checkHost("Write", dst, tensor.F32, len(values)))
}

// WriteInts queues a copy of values.
func (d *Device) WriteInts(dst tensor.Tensor, values []int32) {
	defer d.enter()()
	values = slices.Clone(values)
	out, err := d.written("WriteInts", dst)
	d.put(func() error { copy(out.ints, values); return nil }, err, checkHost("WriteInts", dst, tensor.I32, len(values)))
}

// Read runs the queue, then copies src out.
func (d *Device) Read(values []float32, src tensor.Tensor) error {
	defer d.enter()()
	in, err := d.view("Read", src)
	d.put(func() error { copy(values, in.floats); return nil }, err, checkHost("Read", src, tensor.F32, len(values)))
	return d.flush()
}

// checkHost reports a host slice of n values that does not fit t.
func checkHost(op string, t tensor.Tensor, dtype tensor.DType, n int) error {
	if t.DType == dtype && t.Len() == n {
		return nil
	}
	return &tensor.ShapeError{
		Op: op, Why: fmt.Sprintf("the host has %d %v values", n, dtype),
		Tensors: []string{fmt.Sprintf("device %v %v", t.DType, t.Shape)},
	}
}
