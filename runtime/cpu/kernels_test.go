package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
)

// TestVectorKernelsGiveTheSameBits runs a small forward pass of every operation
// on the AVX2 and the AVX-512 kernels: a model's output must not depend on which
// of them a machine has.
func TestVectorKernelsGiveTheSameBits(t *testing.T) {
	names := Kernels()
	if !slices.Contains(names, "avx2") || !slices.Contains(names, "avx512") {
		t.Skip("this processor has not both AVX2 and AVX-512")
	}
	for _, shape := range []passShape{{1, 64, 2, 1, 32}, {4, 576, 9, 3, 64}, {9, 96, 3, 3, 32}, {50, 160, 8, 2, 20}} {
		want := forwardPass(t, "avx2", shape)
		got := forwardPass(t, "avx512", shape)
		for i := range want {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Fatalf("%+v: element %d is %v with AVX-512, %v with AVX2", shape, i, got[i], want[i])
			}
		}
	}
}

type passShape struct{ rows, d, heads, kvHeads, headDim int }

// forwardPass mixes rows through a layer: norm, projections of several types,
// rotation, attention, gated sum.
func forwardPass(t *testing.T, kernels string, s passShape) []float32 {
	t.Helper()
	d, err := Open(Options{Threads: 2, Kernels: kernels})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	fresh := func(shape ...int) tensor.Tensor {
		x, err := d.New(tensor.F32, shape...)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]float32, x.Len())
		for i := range values {
			values[i] = float32(rng.NormFloat64())
		}
		d.Write(x, values)
		return x
	}
	weight := func(dtype tensor.DType, n, k int) tensor.Tensor {
		data := make([]byte, dtype.Bytes(n*k))
		_, size := dtype.Block()
		for at := range data {
			data[at] = byte(rng.Uint32())
			if at%size == 1 { // the high byte of a scale, or of a half: a small number
				data[at] = 0x20
			}
			if at%size == 3 && dtype != tensor.Q8_0 && dtype != tensor.Q4_0 {
				data[at] = 0xa8
			}
		}
		w, err := d.Load(tensor.Host{DType: dtype, Shape: []int{n, k}, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	positions, seq := make([]int32, s.rows), make([]int32, s.rows)
	for i := range positions {
		positions[i] = int32(i)
	}
	at, err := d.New(tensor.I32, s.rows)
	if err != nil {
		t.Fatal(err)
	}
	d.WriteInts(at, positions)

	x, h := fresh(s.rows, s.d), fresh(s.rows, s.d)
	q, width := fresh(s.rows, s.heads*s.headDim), s.kvHeads*s.headDim
	kv := tensor.KV{K: fresh(2*tensor.PageSize, s.kvHeads, s.headDim), V: fresh(2*tensor.PageSize, s.kvHeads, s.headDim)}
	k, v := fresh(s.rows, width), fresh(s.rows, width)
	d.RMSNorm(h, x, fresh(s.d), 1e-5)
	d.MatMul(q, h, weight(tensor.Q4_1, s.heads*s.headDim, s.d))
	d.MatMul(k, h, weight(tensor.Q8_0, width, s.d))
	d.MatMul(v, h, weight(tensor.BF16, width, s.d))
	d.RoPE(q.Reshape(s.rows, s.heads, s.headDim), at, fresh(s.headDim/2), 1)
	d.StoreRows(kv.K, k, at)
	d.StoreRows(kv.V, v, at)
	batch := tensor.AttentionBatch{Seq: seq, Pos: positions, Pages: [][]int32{{1, 0}}, Scale: 0.2}
	q3 := q.Reshape(s.rows, s.heads, s.headDim)
	d.Attention(q3, q3, kv, batch)
	if len(q.Shape) == 2 && q.Shape[1]%32 == 0 {
		d.MatMul(h, q, weight(tensor.Q4_0, s.d, q.Shape[1]))
	} else {
		d.MatMul(h, q, weight(tensor.F16, s.d, q.Shape[1]))
	}
	d.Add(x, x, h)
	d.SiLUMul(h, x, fresh(s.rows, s.d))
	out := make([]float32, h.Len())
	if err := d.Read(out, h); err != nil {
		t.Fatal(fmt.Errorf("%s %+v: %w", kernels, s, err))
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}
