// Package cpu is the tensor device that computes on the host's processor.
//
// Operations run when called, spread over a pool of threads; the first error
// sticks and is reported by Sync or Read. Weights are used where they lie, at
// any alignment, in their stored type; activations and sums are float32.
//
// Three sets of kernels do the work: plain Go, portable C, and C with vector
// instructions chosen by CPU feature when the device is opened. Within one set
// a row's result is bit-equal whatever the other rows and the threads; see
// kernels.h for the order of every sum.
package cpu

import (
	"fmt"

	"github.com/coderl/cr/runtime/tensor"
)

// Options says how a device is opened.
type Options struct {
	Threads int    // threads that compute; below 1 means 1
	Kernels string // "auto" or "", or a name in Kernels()
}

// Device is the host processor. It implements [tensor.Device].
type Device struct {
	kern   kernels
	pool   *pool
	err    error // the first since the last Sync or Read
	closed bool
	angles ropeTable
	maps   map[*memory]struct{} // large allocations, from the system
}

var _ tensor.Device = (*Device)(nil)

// New opens a device with the fastest kernels that this processor runs.
func New(threads int) *Device {
	return &Device{kern: fastest(), pool: newPool(threads)}
}

// Open opens a device with the named kernels; the error says which names this
// processor has.
func Open(o Options) (*Device, error) {
	if o.Kernels == "" || o.Kernels == "auto" {
		return New(o.Threads), nil
	}
	for _, k := range available() {
		if k.name() == o.Kernels {
			return &Device{kern: k, pool: newPool(o.Threads)}, nil
		}
	}
	return nil, fmt.Errorf("cpu: no kernels %q on this processor: use auto or one of %v", o.Kernels, Kernels())
}

// Kernels returns the names of the kernel sets that this processor runs, the
// fastest last.
func Kernels() []string {
	var names []string
	for _, k := range available() {
		names = append(names, k.name())
	}
	return names
}

// Name returns "cpu".
func (d *Device) Name() string { return "cpu" }

// KernelName returns the name of the kernel set in use.
func (d *Device) KernelName() string { return d.kern.name() }

// Threads returns the number of threads that compute.
func (d *Device) Threads() int { return d.pool.threads }

// Sync returns the first error since the last Sync or Read; work is done when
// it is called.
func (d *Device) Sync() error {
	err := d.err
	d.err = nil
	return err
}

// Close stops the pool's threads and frees all memory. Tensors may not be used
// afterwards.
func (d *Device) Close() error {
	if !d.closed {
		d.closed = true
		d.pool.close()
		for m := range d.maps {
			m.Free()
		}
	}
	return d.Sync()
}

// fail keeps the first error and reports whether there is one, in which case
// the operation must not run.
func (d *Device) fail(err error) bool {
	if d.err == nil {
		d.err = err
	}
	return d.err != nil
}
