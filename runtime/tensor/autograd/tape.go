// Package autograd is reverse-mode differentiation over a
// [tensor.TrainingDevice]: a tape of operations that is unwound backwards.
//
// It knows no models and no devices. Memory comes from a [Pool] and goes back
// as early as the rules allow: behind an operation's backward step nothing
// needs its result or that result's gradient any more. The first failure
// sticks, later operations do nothing, and [Tape.Err] reports it, so that a
// graph reads as one on a device does.
package autograd

import (
	"errors"
	"fmt"

	"github.com/coderl/cr/runtime/tensor"
)

// ErrOverwritten is a value used after an operation consumed it, or consumed
// while the backward pass still needs it.
var ErrOverwritten = errors.New("autograd: the value was overwritten")

// Value is a tensor of a tape, or a leaf that outlives tapes.
type Value struct {
	data    tensor.Tensor
	grad    tensor.Tensor // F32, of data's shape; no memory until first needed
	buf     *buffer       // of data; nil for a leaf and once given away
	gradBuf *buffer
	wanted  bool // a trained leaf depends on the gradient
	held    bool // a backward step reads data
	spent   bool // an operation consumed it
}

// NewLeaf makes a parameter: gradients add to grad, F32 of data's shape. A grad
// without memory makes a constant.
func NewLeaf(data, grad tensor.Tensor) *Value {
	return &Value{data: data, grad: grad, wanted: grad.Mem != nil}
}

// Data returns the value's tensor, valid until the tape is released.
func (v *Value) Data() tensor.Tensor { return v.data }

// Trained tells whether a trained leaf depends on v's gradient.
func (v *Value) Trained() bool { return v.wanted }

// Tape records operations in order. Like its device, it is used by one
// goroutine at a time.
type Tape struct {
	dev       tensor.TrainingDevice
	pool      *Pool
	recording bool
	steps     []step
	values    []*Value // all that hold memory of the pool
	err       error
}

// step is one operation's share of the backward pass.
type step struct {
	made    *Value
	inPlace bool // made existed before
	back    func()
}

// NewTape begins a tape whose memory comes from the pool.
func NewTape(pool *Pool) *Tape {
	return &Tape{dev: pool.dev, pool: pool, recording: true}
}

// NewForward begins a tape that keeps nothing for a backward pass.
func NewForward(pool *Pool) *Tape {
	return &Tape{dev: pool.dev, pool: pool}
}

// Err returns the first failure.
func (t *Tape) Err() error { return t.err }

// Fail makes err the tape's failure unless it has one.
func (t *Tape) Fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// Release gives all memory of the tape's values back. The tape begins anew.
func (t *Tape) Release() {
	t.releaseFrom(0, nil)
	t.steps = nil
}

// releaseFrom frees the values made since mark, but for one.
func (t *Tape) releaseFrom(mark int, but *Value) {
	for _, v := range t.values[mark:] {
		if v != but {
			t.free(v)
		}
	}
	clear(t.values[mark:])
	t.values = t.values[:mark]
	if but != nil && but.buf != nil {
		t.values = append(t.values, but)
	}
}

// Free gives back a value's memory early: no operation may read it again.
func (t *Tape) Free(v *Value) {
	v.spent = true
	t.free(v)
}

// free gives back a value's memory and its gradient's, those of leaves excepted.
func (t *Tape) free(v *Value) {
	if v.buf != nil {
		t.pool.put(v.buf)
		v.buf, v.data.Mem = nil, nil
	}
	if v.gradBuf != nil {
		t.pool.put(v.gradBuf)
		v.gradBuf, v.grad = nil, tensor.Tensor{}
	}
}

// Backward adds the gradients of all trained leaves, given that [Tape.Grad] of
// the last values holds the gradient of the loss by them. Values are gone
// afterwards.
func (t *Tape) Backward() error {
	t.unwind()
	t.Release()
	return t.err
}

// unwind runs the steps backwards. Behind a step, nothing reads what it made.
func (t *Tape) unwind() {
	for i := len(t.steps) - 1; i >= 0 && t.err == nil; i-- {
		s := t.steps[i]
		if s.made.grad.Mem != nil {
			s.back()
		}
		if !s.inPlace {
			t.free(s.made)
		}
		t.steps[i] = step{}
	}
	t.steps = t.steps[:0]
}

// Grad returns the gradient of v to add to: zero at first.
func (t *Tape) Grad(v *Value) tensor.Tensor {
	if v.grad.Mem == nil && t.err == nil {
		t.newGrad(v)
		if t.err == nil {
			t.dev.Zero(v.grad)
		}
	}
	return v.grad
}

// addGrad adds dx to the gradient of x.
func (t *Tape) addGrad(x *Value, dx tensor.Tensor) {
	if x.grad.Mem != nil {
		t.dev.AddScaled(x.grad, dx, 1)
	} else if t.newGrad(x); t.err == nil {
		t.dev.Convert(x.grad, dx)
	}
}

// New returns a constant of the given shape, with values unknown.
func (t *Tape) New(shape ...int) *Value { return t.make(shape) }

// newGrad gives v a gradient of unknown values.
func (t *Tape) newGrad(v *Value) {
	buf, err := t.pool.take(v.data.Len())
	if err != nil {
		t.Fail(err)
		return
	}
	v.gradBuf, v.grad = buf, buf.view(v.data.Shape)
}

// make returns a value of the given shape that depends on the inputs.
func (t *Tape) make(shape []int, inputs ...*Value) *Value {
	v := &Value{data: tensor.Tensor{DType: tensor.F32, Shape: shape}}
	for _, in := range inputs {
		v.wanted = v.wanted || in.wanted
	}
	buf, err := t.pool.take(v.data.Len())
	if err != nil {
		t.Fail(err)
		return v
	}
	v.buf, v.data = buf, buf.view(shape)
	t.values = append(t.values, v)
	return v
}

// usable tells whether an operation may run: nothing failed, and no input was
// consumed.
func (t *Tape) usable(op string, inputs ...*Value) bool {
	for _, in := range inputs {
		if in.spent {
			t.Fail(fmt.Errorf("%s: %w by an operation before", op, ErrOverwritten))
		}
	}
	return t.err == nil
}

// overwritable tells whether an operation may write over v.
func (t *Tape) overwritable(op string, v *Value) bool {
	if v.held || v.buf == nil {
		t.Fail(fmt.Errorf("%s: %w while the backward pass needs it", op, ErrOverwritten))
	}
	return t.err == nil
}

// record keeps a backward step of what was made, and the data it reads. There
// is none where no gradient is wanted.
func (t *Tape) record(made *Value, inPlace bool, back func(), reads ...*Value) {
	if !t.recording || !made.wanted || t.err != nil {
		return
	}
	for _, v := range reads {
		v.held = true
	}
	t.steps = append(t.steps, step{made: made, inPlace: inPlace, back: back})
}
