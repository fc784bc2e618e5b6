package reference

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
)

// training is testdata/training.json, written by training.py beside it.
type training struct {
	MatMul struct {
		X, W, DY, DX, DW []float32
		M, N, K          int
	}
	RMSNorm struct {
		X, Weight, DY, DX, DWeight []float32
		Eps                        float32
	}
	SiLUMul   struct{ Gate, Up, DY, DGate, DUp []float32 }
	Attention struct {
		Q, K, V, DY, Out, LSE, DQ, DK, DV []float32
		Heads, KV, Dim                    int
		Starts                            []int32
		Scale                             float32
	}
	LogProbs struct {
		Logits, DLogP, DEntropy, LogP, Entropy, LSE, DLogits, DLogitsEntropy []float32
		Targets                                                              []int32
		Temperature                                                          float32
	}
	AdamW struct {
		LR, Beta1, Beta2, Eps, WeightDecay float64
		GradScale                          float32
		Start, M, V                        []float32
		Grads, After                       [][]float32
	}
	Convert struct {
		X         []int32
		F16, BF16 []uint16
	}
}

func readTraining(t *testing.T) training {
	t.Helper()
	data, err := os.ReadFile("testdata/training.json")
	if err != nil {
		t.Fatal(err)
	}
	var g training
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// ones is a gradient that others are added to.
func ones(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// nearAdded is near for a gradient that began as ones.
func nearAdded(t *testing.T, got, want []float32, tolerance float64) {
	t.Helper()
	added := make([]float32, len(want))
	for i, v := range want {
		added[i] = v + 1
	}
	near(t, got, added, tolerance)
}

func TestMatMulGrad(t *testing.T) {
	g := readTraining(t).MatMul
	stored := make([]byte, 4*len(g.W))
	Encode(stored, tensor.F32, g.W)
	dx, dw := ones(len(g.X)), ones(len(g.W))
	MatMulGradX(dx, g.DY, stored, tensor.F32, g.N, g.K, 0, 2)
	MatMulGradX(dx, g.DY, stored, tensor.F32, g.N, g.K, 2, g.M)
	nearAdded(t, dx, g.DX, 2e-7)
	MatMulGradW(dw, g.DY, g.X, g.M, g.N, g.K, 0, 3)
	MatMulGradW(dw, g.DY, g.X, g.M, g.N, g.K, 3, g.N)
	nearAdded(t, dw, g.DW, 2e-7)
}

func TestRMSNormGrad(t *testing.T) {
	g := readTraining(t).RMSNorm
	dx, dweight := ones(len(g.X)), ones(len(g.Weight))
	RMSNormGrad(dx, dweight, g.DY, g.X, g.Weight, g.Eps)
	nearAdded(t, dx, g.DX, 2e-7)
	nearAdded(t, dweight, g.DWeight, 2e-7)
	frozen := ones(len(g.X))
	RMSNormGrad(frozen, nil, g.DY, g.X, g.Weight, g.Eps)
	nearAdded(t, frozen, g.DX, 2e-7)
}

func TestSiLUMulGrad(t *testing.T) {
	g := readTraining(t).SiLUMul
	dgate, dup := ones(len(g.Gate)), ones(len(g.Up))
	SiLUMulGrad(dgate, dup, g.DY, g.Gate, g.Up)
	nearAdded(t, dgate, g.DGate, 2e-7)
	nearAdded(t, dup, g.DUp, 2e-7)
}

func TestPackedAttention(t *testing.T) {
	g := readTraining(t).Attention
	h := Heads{Query: g.Heads, KV: g.KV, Dim: g.Dim}
	out, lse := make([]float32, len(g.Q)), make([]float32, len(g.LSE))
	grad := AttentionGrad{DQ: ones(len(g.Q)), DK: ones(len(g.K)), DV: ones(len(g.V)), DY: g.DY, Q: g.Q, K: g.K, V: g.V}
	for i, end := range g.Starts[1:] {
		s := Segment{Start: int(g.Starts[i]), End: int(end), Scale: g.Scale}
		middle := (s.Start + s.End) / 2
		for kv := range g.KV {
			PackedAttention(out, lse, g.Q, g.K, g.V, h, s, s.Start, middle, kv)
			PackedAttention(out, lse, g.Q, g.K, g.V, h, s, middle, s.End, kv)
			PackedAttentionGrad(grad, h, s, kv)
		}
	}
	near(t, out, g.Out, 2e-7)
	near(t, lse, g.LSE, 2e-7)
	nearAdded(t, grad.DQ, g.DQ, 3e-7)
	nearAdded(t, grad.DK, g.DK, 3e-7)
	nearAdded(t, grad.DV, g.DV, 3e-7)
}

func TestLogProbs(t *testing.T) {
	g := readTraining(t).LogProbs
	n := len(g.Targets)
	logp, lse, entropy := make([]float32, n), make([]float32, n), make([]float32, n)
	LogProbs(logp, lse, entropy, g.Logits, g.Targets, g.Temperature)
	near(t, logp, g.LogP, 2e-7)
	near(t, lse, g.LSE, 2e-7)
	near(t, entropy, g.Entropy, 2e-7)
	LogProbs(logp, lse, nil, g.Logits, g.Targets, g.Temperature)
	near(t, logp, g.LogP, 2e-7)

	alone := append([]float32(nil), g.Logits...)
	LogProbsGrad(alone, lse, nil, g.Targets, g.DLogP, nil, g.Temperature)
	near(t, alone, g.DLogits, 1e-6)
	LogProbsGrad(g.Logits, lse, entropy, g.Targets, g.DLogP, g.DEntropy, g.Temperature)
	near(t, g.Logits, g.DLogitsEntropy, 1e-6)
}

func TestAdamW(t *testing.T) {
	g := readTraining(t).AdamW
	p, m, v := g.Start, make([]float32, len(g.Start)), make([]float32, len(g.Start))
	for i, grad := range g.Grads {
		AdamW(p, grad, m, v, tensor.AdamWStep{
			LR: g.LR, Beta1: g.Beta1, Beta2: g.Beta2, Eps: g.Eps, WeightDecay: g.WeightDecay,
			Step: i + 1, GradScale: g.GradScale,
		})
		near(t, p, g.After[i], 2e-7)
	}
	near(t, m, g.M, 2e-7)
	near(t, v, g.V, 2e-7)
}

func TestEncode(t *testing.T) {
	g := readTraining(t).Convert
	x := make([]float32, len(g.X))
	for i, bits := range g.X {
		x[i] = math.Float32frombits(uint32(bits))
	}
	for dtype, want := range map[tensor.DType][]uint16{tensor.F16: g.F16, tensor.BF16: g.BF16} {
		got := make([]byte, 2*len(x))
		Encode(got, dtype, x)
		for i := range x {
			if bits := binary.LittleEndian.Uint16(got[2*i:]); bits != want[i] {
				t.Errorf("%v: %v (%08x) is %04x, want %04x", dtype, x[i], uint32(g.X[i]), bits, want[i])
			}
		}
		back := make([]float32, 1)
		Encode(got, dtype, []float32{float32(math.NaN())})
		if Decode(back, dtype, got[:2]); back[0] == back[0] {
			t.Errorf("%v: NaN became %v", dtype, back[0])
		}
	}
}

func TestAddRowsAndSums(t *testing.T) {
	dst, src := []float32{10, 20, 30, 40, 50, 60}, []float32{1, 2, 3, 4, 5, 6}
	AddRows(dst, src, []int32{2, 0, 2}, 2, 0, 1)
	AddRows(dst, src, []int32{2, 0, 2}, 2, 1, 2)
	near(t, dst, []float32{13, 24, 30, 40, 56, 68}, 0)
	bias := []float32{1, 1}
	SumRows(bias, src, 0, 2)
	near(t, bias, []float32{10, 13}, 0)
	AddScaled(bias, []float32{2, -4}, 0.5)
	near(t, bias, []float32{11, 11}, 0)
	if got := SumSquares(src); got != 91 {
		t.Errorf("the squares of 1..6 sum to %v, want 91", got)
	}
}
