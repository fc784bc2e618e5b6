package reference

import (
	"math"

	"github.com/coderl/cr/runtime/tensor"
)

// AddScaled computes dst += scale·src.
func AddScaled(dst, src []float32, scale float32) {
	for i, v := range src {
		dst[i] += float32(scale * v)
	}
}

// AddRows computes dst[rows[i]] += src[i] for columns [lo, hi) of rows of k
// values, in the order of i.
func AddRows(dst, src []float32, rows []int32, k, lo, hi int) {
	for i, r := range rows {
		to, from := dst[int(r)*k:][:k], src[i*k:][:k]
		for c := lo; c < hi; c++ {
			to[c] += from[c]
		}
	}
}

// SumRows computes columns [lo, hi) of dst[d] += Σ_i src[i,d].
func SumRows(dst, src []float32, lo, hi int) {
	k := len(dst)
	for c := lo; c < hi; c++ {
		sum := 0.0
		for at := c; at < len(src); at += k {
			sum += float64(src[at])
		}
		dst[c] += float32(sum)
	}
}

// MatMulGradX computes rows [lo, hi) of dx[m,k] += Σ_n dy[m,n]·w[n,k], where w
// holds n rows of k values stored as d.
func MatMulGradX(dx, dy []float32, w []byte, d tensor.DType, n, k, lo, hi int) {
	row, stride := make([]float32, k), d.Bytes(k)
	sums := make([]float64, (hi-lo)*k)
	for j := range n {
		Decode(row, d, w[j*stride:][:stride])
		for i := lo; i < hi; i++ {
			addProduct(sums[(i-lo)*k:][:k], dy[i*n+j], row)
		}
	}
	addSums(dx[lo*k:hi*k], sums)
}

// MatMulGradW computes rows [lo, hi) of dw[n,k] += Σ_m dy[m,n]·x[m,k].
func MatMulGradW(dw, dy, x []float32, m, n, k, lo, hi int) {
	sums := make([]float64, (hi-lo)*k)
	for i := range m {
		for j := lo; j < hi; j++ {
			addProduct(sums[(j-lo)*k:][:k], dy[i*n+j], x[i*k:][:k])
		}
	}
	addSums(dw[lo*k:hi*k], sums)
}

func addProduct(sums []float64, a float32, row []float32) {
	for c, v := range row {
		sums[c] += float64(a) * float64(v)
	}
}

func addSums(dst []float32, sums []float64) {
	for i, s := range sums {
		dst[i] = float32(float64(dst[i]) + s)
	}
}

// RMSNormGrad adds the gradients of [RMSNorm] to dx and, unless it is nil, to
// dweight.
func RMSNormGrad(dx, dweight, dy, x, weight []float32, eps float32) {
	d := len(weight)
	sums := make([]float64, len(dweight))
	for lo := 0; lo < len(x); lo += d {
		row, g := x[lo:lo+d], dy[lo:lo+d]
		squares, inner := 0.0, 0.0
		for i, v := range row {
			squares += float64(v) * float64(v)
			inner += float64(g[i]) * float64(weight[i]) * float64(v)
		}
		r := 1 / math.Sqrt(squares/float64(d)+float64(eps))
		along := r * r * inner / float64(d)
		for i, v := range row {
			dx[lo+i] += float32(r * (float64(g[i])*float64(weight[i]) - float64(v)*along))
		}
		for i := range sums {
			sums[i] += float64(g[i]) * float64(row[i]) * r
		}
	}
	addSums(dweight, sums)
}

// SiLUMulGrad adds the gradients of [SiLUMul] to dgate and dup.
func SiLUMulGrad(dgate, dup, dy, gate, up []float32) {
	for i, g := range gate {
		x, y := float64(g), float64(dy[i])
		s := 1 / (1 + math.Exp(-x))
		dgate[i] += float32(y * float64(up[i]) * s * (1 + x*(1-s)))
		dup[i] += float32(y * x * s)
	}
}
