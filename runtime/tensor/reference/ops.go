package reference

import (
	"math"

	"github.com/coderl/cr/runtime/tensor"
)

// RMSNorm computes dst = x / sqrt(mean(x²)+eps) · weight for each row of
// len(weight) values.
func RMSNorm(dst, x, weight []float32, eps float32) {
	d := len(weight)
	for r := 0; r < len(x); r += d {
		sum := 0.0
		for _, v := range x[r : r+d] {
			sum += float64(v) * float64(v)
		}
		scale := float32(1 / math.Sqrt(sum/float64(d)+float64(eps)))
		for i, w := range weight {
			dst[r+i] = x[r+i] * scale * w
		}
	}
}

// MatMul computes columns [lo, hi) of dst[m,n] = Σ_k x[m,k]·w[n,k], where w
// holds n rows of k values stored as d.
func MatMul(dst, x []float32, w []byte, d tensor.DType, m, n, k, lo, hi int) {
	row, stride := make([]float32, k), d.Bytes(k)
	for j := lo; j < hi; j++ {
		Decode(row, d, w[j*stride:][:stride])
		for i := range m {
			dst[i*n+j] = dot(x[i*k:][:k], row)
		}
	}
}

func dot(a, b []float32) float32 {
	sum := 0.0
	for i, v := range a {
		sum += float64(v) * float64(b[i])
	}
	return float32(sum)
}

// Add computes dst = a + b; b has a's length, or is one row added to each.
func Add(dst, a, b []float32) {
	for r := 0; r < len(a); r += len(b) {
		for i, v := range b {
			dst[r+i] = a[r+i] + v
		}
	}
}

// SiLUMul computes dst = gate·sigmoid(gate)·up.
func SiLUMul(dst, gate, up []float32) {
	for i, g := range gate {
		dst[i] = float32(float64(g) / (1 + math.Exp(-float64(g))) * float64(up[i]))
	}
}

// RoPETable fills sine and cosine [n, len(invFreq)] for n positions: the angle
// positions[row]·invFreq[i] is rounded to float32 first, as in training code.
func RoPETable(cos, sin []float32, positions []int32, invFreq []float32, scale float32) {
	for r, p := range positions {
		for i, f := range invFreq {
			s, c := math.Sincos(float64(float32(p) * f))
			cos[r*len(invFreq)+i] = float32(c) * scale
			sin[r*len(invFreq)+i] = float32(s) * scale
		}
	}
}

// RoPE rotates the pairs (i, i+half) of every head of x [n, heads, 2·half] by
// the angles whose cosine and sine [n, half] are given.
func RoPE(x, cos, sin []float32, heads, half int) {
	for h := 0; h*2*half < len(x); h++ {
		head, row := x[h*2*half:], h/heads*half
		for i := range half {
			a, b := head[i], head[i+half]
			c, s := cos[row+i], sin[row+i]
			head[i] = float32(a*c) - float32(b*s)
			head[i+half] = float32(b*c) + float32(a*s)
		}
	}
}
