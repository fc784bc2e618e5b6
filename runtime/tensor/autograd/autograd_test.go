package autograd_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/coderl/cr/runtime/cpu"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/autograd"
	"github.com/coderl/cr/runtime/tensor/strict"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lab is a device with leaves made of values.
type lab struct {
	t    *testing.T
	dev  tensor.TrainingDevice
	pool *autograd.Pool
}

func newLab(t *testing.T, dev tensor.TrainingDevice) lab {
	t.Cleanup(func() { check(t, dev.Close()) })
	return lab{t, dev, autograd.NewPool(dev)}
}

func (l lab) tensor(values []float32, shape ...int) tensor.Tensor {
	l.t.Helper()
	x, err := l.dev.New(tensor.F32, shape...)
	check(l.t, err)
	l.dev.Write(x, values)
	return x
}

func (l lab) ints(values ...int32) tensor.Tensor {
	l.t.Helper()
	x, err := l.dev.New(tensor.I32, len(values))
	check(l.t, err)
	l.dev.WriteInts(x, values)
	return x
}

// leaf is a parameter with a gradient of zeros.
func (l lab) leaf(values []float32, shape ...int) (*autograd.Value, tensor.Tensor) {
	l.t.Helper()
	grad := l.tensor(make([]float32, len(values)), shape...)
	return autograd.NewLeaf(l.tensor(values, shape...), grad), grad
}

func (l lab) read(x tensor.Tensor) []float32 {
	l.t.Helper()
	values := make([]float32, x.Len())
	check(l.t, l.dev.Read(values, x))
	return values
}

// wave is n values in (-1, 1) that look like nothing in particular.
func wave(n int, phase float64) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(math.Sin(phase + 1.7*float64(i)*float64(i)))
	}
	return values
}

// The sizes of the graph under test.
const (
	vocab, rows, hidden, heads, kvHeads, headDim = 7, 5, 6, 2, 1, 4
)

// sizes are the leaves of the graph under test.
var sizes = [][]int{
	{vocab, hidden},
	{hidden},
	{heads * headDim, hidden},
	{kvHeads * headDim, hidden},
	{kvHeads * headDim, hidden},
	{heads * headDim},
	{hidden, heads * headDim},
	{headDim},
	{hidden, hidden},
}

// graph is a small network with every operation of the tape: the embedding, two
// residual branches, one of them an attention, with a bias and a low-rank kind
// of sum, and a choice of rows.
func (l lab) graph(tape *autograd.Tape, w []*autograd.Value, checkpoint bool) *autograd.Value {
	positions, ids := l.ints(0, 1, 2, 0, 1), l.ints(3, 0, 3, 6, 2)
	rotation := autograd.Rotation{
		Positions: positions, InvFreq: l.tensor([]float32{1, 0.1}, 2), Backward: l.tensor([]float32{-1, -0.1}, 2), Scale: 1.25,
	}
	block := func(x *autograd.Value) *autograd.Value {
		h := tape.RMSNorm(x, w[1], 1e-5)
		q := tape.AddRow(tape.MatMul(h, w[2]), w[5])
		q = tape.RoPE(tape.RMSNorm(q, w[7], 1e-5), rotation)
		k, v := tape.RoPE(tape.MatMul(h, w[3]), rotation), tape.MatMul(h, w[4])
		mixed := tape.Attention(q, k, v, headDim, tensor.PackedBatch{Starts: []int32{0, 3, 5}, Scale: 0.5})
		x = tape.Add(x, tape.MatMul(mixed, w[6]))
		h = tape.AddScaled(tape.MatMul(x, w[8]), tape.MatMul(x, w[8]), 0.5)
		return tape.Add(x, tape.SiLUMul(h, tape.MatMul(x, w[8])))
	}
	x := tape.Embed(w[0], ids)
	for range 2 {
		if checkpoint {
			x = tape.Checkpoint(x, block)
		} else {
			x = block(x)
		}
	}
	return tape.CopyRows(x, l.ints(1, 4, 1))
}

// gradients runs the graph with the loss Σ c·y and returns its value and the
// leaves' gradients.
func (l lab) gradients(params [][]float32, checkpoint bool) (loss float64, grads [][]float32) {
	var leaves []*autograd.Value
	var tensors []tensor.Tensor
	for i, values := range params {
		v, g := l.leaf(values, sizes[i]...)
		leaves, tensors = append(leaves, v), append(tensors, g)
	}
	tape := autograd.NewTape(l.pool)
	y := l.graph(tape, leaves, checkpoint)
	check(l.t, tape.Err())
	c := wave(y.Data().Len(), 9)
	for i, v := range l.read(y.Data()) {
		loss += float64(v) * float64(c[i])
	}
	l.dev.Write(tape.Grad(y), c)
	check(l.t, tape.Backward())
	for _, g := range tensors {
		grads = append(grads, l.read(g))
	}
	if l.pool.Used() != 0 {
		l.t.Errorf("%d bytes are lent after the backward pass", l.pool.Used())
	}
	return loss, grads
}

// The slope of the loss along a direction is what the gradients say, for every
// leaf, on the strict device, with and without checkpoints.
func TestGradientsAreSlopes(t *testing.T) {
	l := newLab(t, strict.New())
	var params [][]float32
	for i, shape := range sizes {
		params = append(params, wave(tensor.Tensor{Shape: shape}.Len(), float64(i)))
	}
	_, grads := l.gradients(params, false)
	_, again := l.gradients(params, true)
	for i, grad := range grads {
		if !slices.Equal(grad, again[i]) {
			t.Errorf("leaf %d: the checkpoints change the gradient", i)
		}
		direction := wave(len(grad), 5+float64(i))
		shifted := func(by float32) float64 {
			moved := slices.Clone(params)
			moved[i] = slices.Clone(params[i])
			for j := range moved[i] {
				moved[i][j] += by * direction[j]
			}
			loss, _ := l.gradients(moved, false)
			return loss
		}
		const step = 1.0 / 256
		slope := (shifted(step) - shifted(-step)) / (2 * step)
		want := 0.0
		for j, g := range grad {
			want += float64(g) * float64(direction[j])
		}
		if math.Abs(slope-want) > 2e-3*(1+math.Abs(want)) {
			t.Errorf("leaf %d: slope %v, the gradient says %v", i, slope, want)
		}
	}
}

// A tape for a forward pass alone keeps one block's values at most.
func TestForwardKeepsLittle(t *testing.T) {
	l := newLab(t, cpu.New(1))
	w := autograd.NewLeaf(l.tensor(wave(64*64, 1), 64, 64), tensor.Tensor{})
	run := func(blocks int) int64 {
		pool := autograd.NewPool(l.dev)
		defer pool.Close()
		tape := autograd.NewForward(pool)
		defer tape.Release()
		x := tape.Embed(w, l.ints(make([]int32, 16)...))
		for range blocks {
			x = tape.Checkpoint(x, func(x *autograd.Value) *autograd.Value { return tape.Add(x, tape.MatMul(x, w)) })
		}
		check(t, tape.Err())
		return pool.Peak()
	}
	if one, many := run(1), run(20); many != one {
		t.Errorf("20 blocks take %d bytes, one takes %d", many, one)
	}
}

// What an operation consumed cannot be used, and what the backward pass needs
// cannot be consumed.
func TestMisuseIsAnError(t *testing.T) {
	l := newLab(t, strict.New())
	w, _ := l.leaf(wave(16, 1), 4, 4)
	for name, misuse := range map[string]func(tape *autograd.Tape, x *autograd.Value){
		"consumed": func(tape *autograd.Tape, x *autograd.Value) {
			y := tape.MatMul(x, w)
			tape.Add(x, y)
			tape.MatMul(y, w)
		},
		"held": func(tape *autograd.Tape, x *autograd.Value) {
			y := tape.MatMul(x, w)
			tape.MatMul(y, w)
			tape.Add(x, y)
		},
		"leaf": func(tape *autograd.Tape, x *autograd.Value) { tape.Add(x, w) },
		"freed": func(tape *autograd.Tape, x *autograd.Value) {
			tape.Free(x)
			tape.MatMul(x, w)
		},
	} {
		tape := autograd.NewTape(l.pool)
		misuse(tape, tape.Embed(w, l.ints(0, 1, 2, 3)))
		if err := tape.Err(); !errors.Is(err, autograd.ErrOverwritten) {
			t.Errorf("%s: error is %v", name, err)
		}
		tape.Release()
	}
}

// Memory of one size goes round; what a pass leaves unused goes back.
func TestPoolReusesMemory(t *testing.T) {
	l := newLab(t, cpu.New(1))
	w := autograd.NewLeaf(l.tensor(wave(100, 1), 10, 10), tensor.Tensor{})
	for range 3 {
		l.pool.NextPass()
		tape := autograd.NewForward(l.pool)
		tape.Embed(w, l.ints(1, 2, 3))
		tape.Release()
	}
	if l.pool.Used() != 0 || l.pool.Peak() != 4*256 {
		t.Errorf("%d bytes lent, %d at the peak", l.pool.Used(), l.pool.Peak())
	}
}
