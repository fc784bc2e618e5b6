package devicetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

// RunTraining holds the devices that open returns to the words of
// [tensor.TrainingDevice]; [Run] does so for what every device has.
func RunTraining(t *testing.T, open func() tensor.TrainingDevice) {
	tests := []struct {
		name string
		run  func(h *trainer)
	}{
		{"Zero", testZero},
		{"Convert", testConvert},
		{"AddScaled", testAddScaled},
		{"AddRows", testAddRows},
		{"SumRows", testSumRows},
		{"MatMulGrad", testMatMulGrad},
		{"RMSNormGrad", testRMSNormGrad},
		{"SiLUMulGrad", testSiLUMulGrad},
		{"RoPEGrad", testRoPEGrad},
		{"PackedAttention", testPackedAttention},
		{"PackedSegmentsAlone", testPackedSegmentsAlone},
		{"PackedFirstRows", testPackedFirstRows},
		{"LogProbs", testLogProbs},
		{"LogProbsExtremes", testLogProbsExtremes},
		{"SumSquares", testSumSquares},
		{"AdamW", testAdamW},
		{"ShapeErrors", testTrainingShapeErrors},
		{"DataErrors", testTrainingDataErrors},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := open()
			h := &trainer{harness: &harness{T: t, d: d, rng: rand.New(rand.NewPCG(5, 6))}, d: d}
			test.run(h)
			if err := d.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

// trainer is a training device under test.
type trainer struct {
	*harness
	d tensor.TrainingDevice
}

// gradient returns a tensor of random values, with a copy of them for the
// reference to add to.
func (h *trainer) gradient(shape ...int) (tensor.Tensor, []float32) {
	h.Helper()
	values := h.values(tensor.Tensor{Shape: shape}.Len())
	return h.put(values, shape...), values
}

func testZero(h *trainer) {
	x := h.put(h.values(12), 4, 3)
	kept := h.read(x)
	h.d.Zero(x.Rows(1, 3))
	h.same(h.read(x), slices.Concat(kept[:3], make([]float32, 6), kept[9:]), "rows 1 and 2")
	half, back := h.new(tensor.BF16, 5), h.new(tensor.F32, 5)
	h.d.Convert(half, h.put(h.values(5), 5))
	h.d.Zero(half)
	h.d.Convert(back, half)
	h.same(h.read(back), make([]float32, 5), "BF16")
	h.d.Zero(h.new(tensor.F32, 0, 3))
	h.read(h.new(tensor.F32, 0))
}

func testConvert(h *trainer) {
	for _, n := range []int{0, 1, 15, 16, 33, 1000} {
		values := h.values(n)
		for i := range values { // into the subnormal halves, and beyond the largest
			switch i % 7 {
			case 3:
				values[i] *= 1e-6
			case 5:
				values[i] *= 1e5
			}
		}
		for _, dtype := range []tensor.DType{tensor.F16, tensor.BF16} {
			stored, back, again := h.new(dtype, n), h.new(tensor.F32, n), h.new(dtype, n)
			h.d.Convert(stored, h.put(values, n))
			h.d.Convert(back, stored)
			bits, want := make([]byte, dtype.Bytes(n)), make([]float32, n)
			reference.Encode(bits, dtype, values)
			reference.Decode(want, dtype, bits)
			h.same(h.read(back), want, fmt.Sprintf("%v of %d", dtype, n))
			h.d.Convert(again, stored)
			h.d.Zero(back)
			h.d.Convert(back, again)
			h.same(h.read(back), want, fmt.Sprintf("%v copied", dtype))
		}
		same := h.put(values, n)
		h.d.Convert(same, same)
		h.same(h.read(same), values, "in place")
	}
}

func testAddScaled(h *trainer) {
	for _, n := range []int{0, 1, 17, 5000} {
		dst, want := h.gradient(n)
		src := h.values(n)
		h.d.AddScaled(dst, h.put(src, n), -0.3)
		reference.AddScaled(want, src, -0.3)
		h.near(h.read(dst), want, 1e-6, fmt.Sprintf("%d values", n))
	}
	x := h.put([]float32{1, 2, 3}, 3)
	h.d.AddScaled(x, x, 2)
	h.same(h.read(x), []float32{3, 6, 9}, "dst is src")
}

func testAddRows(h *trainer) {
	for _, k := range []int{1, 7, 16, 100} {
		rows := make([]int32, 300)
		for i := range rows {
			rows[i] = int32(h.rng.IntN(5)) // each of them many times
		}
		dst, want := h.gradient(7, k)
		src := h.values(len(rows) * k)
		h.d.AddRows(dst, h.put(src, len(rows), k), h.ints(rows...))
		reference.AddRows(want, src, rows, k, 0, k)
		h.same(h.read(dst), want, fmt.Sprintf("rows of %d", k))
		h.d.AddRows(dst, h.new(tensor.F32, 0, k), h.ints())
		h.same(h.read(dst), want, "no rows")
	}
}

func testSumRows(h *trainer) {
	for _, n := range []int{0, 1, 65, 3000} {
		for _, k := range []int{1, 15, 33, 192} {
			dst, want := h.gradient(k)
			src := h.values(n * k)
			h.d.SumRows(dst, h.put(src, n, k))
			reference.SumRows(want, src, 0, k)
			h.near(h.read(dst), want, 2e-5, fmt.Sprintf("%d rows of %d", n, k))
		}
	}
}

func testSumSquares(h *trainer) {
	for _, n := range []int{0, 1, 17, 1024, 1<<16 - 1, 200_001} {
		values, dst := h.values(n), h.new(tensor.F32, 1)
		h.d.SumSquares(dst, h.put(values, n))
		h.near(h.read(dst), []float32{float32(reference.SumSquares(values))}, 1e-6, fmt.Sprintf("%d values", n))
	}
}

func testAdamW(h *trainer) {
	step := tensor.AdamWStep{LR: 0.01, Beta1: 0.9, Beta2: 0.95, Eps: 1e-8, WeightDecay: 0.1, GradScale: 0.5}
	for _, n := range []int{0, 1, 16, 41, 3000} {
		p, wantP := h.gradient(n)
		m, v := h.new(tensor.F32, n), h.new(tensor.F32, n)
		wantM, wantV := make([]float32, n), make([]float32, n)
		for step.Step = 1; step.Step <= 3; step.Step++ {
			grad := h.values(n)
			h.d.AdamW(p, h.put(grad, n), m, v, step)
			reference.AdamW(wantP, grad, wantM, wantV, step)
		}
		h.near(h.read(p), wantP, 1e-6, fmt.Sprintf("%d parameters", n))
		h.near(h.read(m), wantM, 1e-6, "first moments")
		h.near(h.read(v), wantV, 1e-6, "second moments")
	}
}
