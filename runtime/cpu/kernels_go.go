package cpu

import (
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

// goKernels are the reference loops.
type goKernels struct{}

func (goKernels) name() string { return "go" }

func (goKernels) decode(dst []float32, d tensor.DType, src []byte) {
	reference.Decode(dst, d, src)
}

func (goKernels) rmsNorm(dst, x, weight []float32, eps float32) {
	reference.RMSNorm(dst, x, weight, eps)
}

func (goKernels) matMul(p product, lo, hi int) {
	reference.MatMul(p.dst, p.x, p.w, p.dtype, p.m, p.n, p.k, lo, hi)
}

func (goKernels) add(dst, a, b []float32) { reference.Add(dst, a, b) }

func (goKernels) siluMul(dst, gate, up []float32) { reference.SiLUMul(dst, gate, up) }

func (goKernels) rope(x, cos, sin []float32, heads, half int) {
	reference.RoPE(x, cos, sin, heads, half)
}

func (goKernels) attention(a *attention, lo, hi, kvHead int) {
	for i := lo; i < hi; i++ {
		reference.Attention(a.dst, a.q, a.k, a.v, a.heads, a.batch, i, kvHead)
	}
}
