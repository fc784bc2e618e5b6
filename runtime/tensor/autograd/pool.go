package autograd

import (
	"fmt"
	"math/bits"

	"github.com/coderl/cr/runtime/tensor"
)

// Pool lends memory for values and takes it back, so that the passes of a
// training run do not ask the device for the same sizes again and again.
type Pool struct {
	dev        tensor.TrainingDevice
	idle       map[int][]*buffer // by size
	pass       int
	used, peak int64 // bytes lent
}

// buffer is memory of the pool.
type buffer struct {
	memory tensor.Tensor // F32, one dimension
	pass   int           // that last lent it
}

// NewPool makes an empty pool on a device.
func NewPool(dev tensor.TrainingDevice) *Pool {
	return &Pool{dev: dev, idle: map[int][]*buffer{}}
}

// Peak is the most bytes that were lent at one time, with what rounding the
// sizes adds.
func (p *Pool) Peak() int64 { return p.peak }

// Used is how many bytes are lent.
func (p *Pool) Used() int64 { return p.used }

// NextPass frees the memory that the pass before did not use: batches differ in
// size, and old sizes must not pile up.
func (p *Pool) NextPass() {
	for size, list := range p.idle {
		kept := list[:0]
		for _, b := range list {
			if b.pass < p.pass {
				b.memory.Free()
				continue
			}
			kept = append(kept, b)
		}
		clear(list[len(kept):])
		p.idle[size] = kept
	}
	p.pass++
}

// Close frees all memory that is not lent.
func (p *Pool) Close() {
	for _, list := range p.idle {
		for _, b := range list {
			b.memory.Free()
		}
	}
	clear(p.idle)
}

// take lends memory for n elements, with values unknown.
func (p *Pool) take(n int) (*buffer, error) {
	size := sizeClass(n)
	list := p.idle[size]
	var b *buffer
	if last := len(list) - 1; last >= 0 {
		b, p.idle[size] = list[last], list[:last]
	} else {
		memory, err := p.dev.New(tensor.F32, size)
		if err != nil {
			return nil, fmt.Errorf("memory of %d elements for a value: %w", n, err)
		}
		b = &buffer{memory: memory}
	}
	b.pass = p.pass
	p.used += 4 * int64(size)
	p.peak = max(p.peak, p.used)
	return b, nil
}

// put takes memory back.
func (p *Pool) put(b *buffer) {
	size := b.memory.Shape[0]
	p.idle[size] = append(p.idle[size], b)
	p.used -= 4 * int64(size)
}

// sizeClass rounds a number of elements up by at most a sixteenth, so that
// batches of nearly one size share memory.
func sizeClass(n int) int {
	const least = 256
	n = max(n, least)
	step := 1 << max(bits.Len(uint(n))-5, 0)
	return (n + step - 1) / step * step
}

// view is the first elements under a shape.
func (b *buffer) view(shape []int) tensor.Tensor {
	return tensor.Tensor{DType: tensor.F32, Shape: shape, Mem: b.memory.Mem, Offset: b.memory.Offset}
}
