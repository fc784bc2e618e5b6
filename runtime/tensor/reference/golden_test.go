package reference

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
)

// golden is testdata/golden.json, written by golden.py beside it.
type golden struct {
	Decode []struct {
		Type   string
		Stored []byte
		Values []float32
	}
	Half struct {
		Bits   []uint16
		Values []string
	}
	RMSNorm struct {
		X, Weight, Want []float32
		Eps             float32
	}
	MatMul struct {
		X, W, Want []float32
		M, N, K    int
	}
	SiLUMul struct{ Gate, Up, Want []float32 }
	RoPE    struct {
		X, InvFreq, Want []float32
		Positions        []int32
		Heads            int
		Scale            float32
	}
	Attention struct {
		Q, K, V, Want  []float32
		Heads, KV, Dim int
		Scale          float32
		Pages          [][]int32
		Seq, Pos       []int32
	}
}

func readGolden(t *testing.T) golden {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func near(t *testing.T, got, want []float32, tolerance float64) {
	t.Helper()
	if len(want) == 0 || len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	for i := range want {
		if diff := math.Abs(float64(got[i] - want[i])); !(diff <= tolerance*(1+math.Abs(float64(want[i])))) {
			t.Fatalf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func TestDecodeAsGGUF(t *testing.T) {
	types := map[string]tensor.DType{
		"F16": tensor.F16, "BF16": tensor.BF16, "Q8_0": tensor.Q8_0, "Q4_0": tensor.Q4_0, "Q4_1": tensor.Q4_1,
	}
	for _, c := range readGolden(t).Decode {
		got := make([]float32, len(c.Values))
		Decode(got, types[c.Type], c.Stored)
		if !slices.Equal(got, c.Values) {
			t.Errorf("%s: %v, want %v", c.Type, got, c.Values)
		}
	}
}

func TestHalfToFloat(t *testing.T) {
	g := readGolden(t).Half
	for i, bits := range g.Bits {
		want, err := strconv.ParseFloat(g.Values[i], 64)
		if err != nil {
			t.Fatal(err)
		}
		got := float64(HalfToFloat(bits))
		if got != want || math.Signbit(got) != math.Signbit(want) {
			t.Errorf("%04x is %v, want %v", bits, got, want)
		}
	}
	if got := HalfToFloat(0x7e00); got == got {
		t.Errorf("7e00 is %v, want NaN", got)
	}
}

func TestRMSNorm(t *testing.T) {
	g := readGolden(t).RMSNorm
	got := make([]float32, len(g.X))
	RMSNorm(got, g.X, g.Weight, g.Eps)
	near(t, got, g.Want, 3e-7)
}

func TestMatMul(t *testing.T) {
	g := readGolden(t).MatMul
	got, stored := make([]float32, g.M*g.N), make([]byte, 0, 4*len(g.W))
	for _, w := range g.W {
		u := math.Float32bits(w)
		stored = append(stored, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
	}
	MatMul(got, g.X, stored, tensor.F32, g.M, g.N, g.K, 0, 3)
	MatMul(got, g.X, stored, tensor.F32, g.M, g.N, g.K, 3, g.N)
	near(t, got, g.Want, 1e-7)
}

func TestSiLUMul(t *testing.T) {
	g := readGolden(t).SiLUMul
	got := make([]float32, len(g.Gate))
	SiLUMul(got, g.Gate, g.Up)
	near(t, got, g.Want, 1e-7)
}

func TestRoPE(t *testing.T) {
	g := readGolden(t).RoPE
	n := len(g.Positions) * len(g.InvFreq)
	cos, sin := make([]float32, n), make([]float32, n)
	RoPETable(cos, sin, g.Positions, g.InvFreq, g.Scale)
	RoPE(g.X, cos, sin, g.Heads, len(g.InvFreq))
	near(t, g.X, g.Want, 3e-7)
}

func TestAttention(t *testing.T) {
	g := readGolden(t).Attention
	heads := Heads{Query: g.Heads, KV: g.KV, Dim: g.Dim}
	b := tensor.AttentionBatch{Seq: g.Seq, Pos: g.Pos, Pages: g.Pages, Scale: g.Scale}
	got := make([]float32, len(g.Q))
	for i := range g.Pos {
		for kv := range g.KV {
			Attention(got, g.Q, g.K, g.V, heads, b, i, kv)
		}
	}
	near(t, got, g.Want, 1e-6)
}
