package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
)

// bed is a device with random tensors.
type bed struct {
	*testing.T
	*Device
	rng *rand.Rand
}

func newBed(t *testing.T, kernels string, threads int) *bed {
	t.Helper()
	d, err := Open(Options{Threads: threads, Kernels: kernels})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return &bed{t, d, rand.New(rand.NewPCG(7, 8))}
}

func (b *bed) random(shape ...int) tensor.Tensor {
	b.Helper()
	x, err := b.New(tensor.F32, shape...)
	if err != nil {
		b.Fatal(err)
	}
	values := make([]float32, x.Len())
	for i := range values {
		values[i] = float32(b.rng.NormFloat64())
	}
	b.Write(x, values)
	return x
}

func (b *bed) ints(values ...int32) tensor.Tensor {
	b.Helper()
	x, err := b.New(tensor.I32, len(values))
	if err != nil {
		b.Fatal(err)
	}
	b.WriteInts(x, values)
	return x
}

func (b *bed) values(x tensor.Tensor) []float32 {
	b.Helper()
	values := make([]float32, x.Len())
	if err := b.Read(values, x); err != nil {
		b.Fatal(err)
	}
	return values
}

// trainingPass runs every operation of training once and returns what it wrote.
func trainingPass(t *testing.T, kernels string, threads int) []float32 {
	b := newBed(t, kernels, threads)
	const rows, hidden, vocab = 600, 100, 330
	x, dy, w := b.random(rows, hidden), b.random(rows, vocab), b.random(vocab, hidden)
	dx, dw, weight, dweight := b.random(rows, hidden), b.random(vocab, hidden), b.random(hidden), b.random(hidden)
	b.MatMulGradX(dx, dy, w)
	b.MatMulGradW(dw, dy, x)
	b.RMSNormGrad(dx, dweight, x, b.random(rows, hidden), weight, 1e-5)
	written := []tensor.Tensor{dx, dw, dweight}

	gate, up := b.random(rows, hidden), b.random(rows, hidden)
	dgate, dup := b.random(rows, hidden), b.random(rows, hidden)
	b.SiLUMulGrad(dgate, dup, x, gate, up)
	b.AddRows(dw, dgate, b.ints(slices.Repeat([]int32{3, 0, 3}, rows/3)...))
	b.SumRows(dweight, dup)
	b.AddScaled(dup, dgate, 0.3)
	written = append(written, dgate, dup)

	batch := tensor.PackedBatch{Starts: []int32{0, 1, 40, rows}, Scale: 0.3}
	q, k, v := b.random(rows, 4, 25), b.random(rows, 2, 25), b.random(rows, 2, 25)
	out, lse, dout := b.random(rows, 4, 25), b.random(rows, 4), b.random(rows, 4, 25)
	dq, dk, dv := b.random(rows, 4, 25), b.random(rows, 2, 25), b.random(rows, 2, 25)
	b.PackedAttention(out, lse, q, k, v, batch)
	b.PackedAttentionGrad(dq, dk, dv, dout, out, lse, q, k, v, batch)
	written = append(written, out, lse, dq, dk, dv)

	targets, one := make([]int32, rows), b.random(1)
	logp, norm, entropy := b.random(rows), b.random(rows), b.random(rows)
	b.LogProbs(logp, norm, entropy, dy, b.ints(targets...), 0.7)
	b.LogProbsGrad(dy, norm, entropy, b.ints(targets...), b.random(rows), b.random(rows), 0.7)
	b.SumSquares(one, dw)
	m, second := b.random(vocab, hidden), b.random(vocab, hidden)
	b.Zero(second)
	b.AdamW(w, dw, m, second, tensor.AdamWStep{LR: 0.1, Beta1: 0.9, Beta2: 0.99, Eps: 1e-6, Step: 2, GradScale: 0.5})
	written = append(written, logp, norm, entropy, dy, one, w, m, second)

	var all []float32
	for _, x := range written {
		all = append(all, b.values(x)...)
	}
	return all
}

// TestTrainingBits wants the same gradients on any number of threads, and from
// AVX2 as from AVX-512.
func TestTrainingBits(t *testing.T) {
	wants := map[string][]float32{}
	for _, kernels := range Kernels()[1:] {
		of := kernels
		if of == "avx512" {
			of = "avx2"
		}
		for _, threads := range []int{1, 2, 5} {
			got := trainingPass(t, kernels, threads)
			if wants[of] == nil {
				wants[of] = got
			}
			for i, want := range wants[of] {
				if math.Float32bits(got[i]) != math.Float32bits(want) {
					t.Fatalf("%s on %d threads: element %d is %v, was %v", kernels, threads, i, got[i], want)
				}
			}
		}
	}
}

// TestPackedAttentionAsGenerated wants the bits of the attention over the cache:
// training computes the very probabilities that a sample was drawn from.
func TestPackedAttentionAsGenerated(t *testing.T) {
	for _, kernels := range Kernels()[1:] {
		for _, rows := range []int{1, 31, 32, 150} {
			b := newBed(t, kernels, 2)
			capacity := (rows + tensor.PageSize - 1) / tensor.PageSize * tensor.PageSize
			k, v, q := b.random(capacity, 2, 40), b.random(capacity, 2, 40), b.random(rows, 6, 40)
			batch := tensor.AttentionBatch{Seq: make([]int32, rows), Pages: [][]int32{nil}, Scale: 0.2}
			for i := range rows {
				batch.Pos = append(batch.Pos, int32(i))
			}
			for p := range capacity / tensor.PageSize {
				batch.Pages[0] = append(batch.Pages[0], int32(p))
			}
			cached, packed, lse := b.random(rows, 6, 40), b.random(rows, 6, 40), b.random(rows, 6)
			b.Attention(cached, q, tensor.KV{K: k, V: v}, batch)
			b.PackedAttention(packed, lse, q, k.Rows(0, rows), v.Rows(0, rows),
				tensor.PackedBatch{Starts: []int32{0, int32(rows)}, Scale: 0.2})
			if !slices.Equal(b.values(packed), b.values(cached)) {
				t.Errorf("%s: %d rows differ", kernels, rows)
			}
		}
	}
}
