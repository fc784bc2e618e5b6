package cpu

import (
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

func (goKernels) convert(dst []byte, to tensor.DType, src []byte, from tensor.DType) {
	values := make([]float32, len(src)/from.Bytes(1))
	reference.Decode(values, from, src)
	reference.Encode(dst, to, values)
}

func (goKernels) addScaled(dst, src []float32, scale float32) { reference.AddScaled(dst, src, scale) }

func (goKernels) addRows(dst, src []float32, rows []int32, k, lo, hi int) {
	reference.AddRows(dst, src, rows, k, lo, hi)
}

func (goKernels) sumRows(dst, src []float32, lo, hi int) { reference.SumRows(dst, src, lo, hi) }

func (goKernels) matMulGradX(p *pool, dx, dy []float32, w product) {
	p.split(w.m, 16, w.n*w.k/8, func(lo, hi int) {
		reference.MatMulGradX(dx, dy, w.w, w.dtype, w.n, w.k, lo, hi)
	})
}

func (goKernels) matMulGradW(p *pool, dw, dy, x []float32, m, n, k int) {
	p.split(n, 16, m*k/8, func(lo, hi int) { reference.MatMulGradW(dw, dy, x, m, n, k, lo, hi) })
}

func (goKernels) rmsNormGrad(dx, dweight, dy, x, weight []float32, eps float32) {
	reference.RMSNormGrad(dx, dweight, dy, x, weight, eps)
}

func (goKernels) siluMulGrad(dgate, dup, dy, gate, up []float32) {
	reference.SiLUMulGrad(dgate, dup, dy, gate, up)
}

func (goKernels) packedAttention(a *packedAttention, s segment, lo, hi, kv int) {
	reference.PackedAttention(a.out, a.lse, a.q, a.k, a.v, a.heads, a.reference(s), lo, hi, kv)
}

func (goKernels) packedAttentionGrad(p *pool, a *packedAttention) {
	grad := reference.AttentionGrad{DQ: a.dq, DK: a.dk, DV: a.dv, DY: a.dy, Q: a.q, K: a.k, V: a.v}
	p.do(len(a.segments)*a.heads.KV, func(i int) {
		reference.PackedAttentionGrad(grad, a.heads, a.reference(a.segments[i/a.heads.KV]), i%a.heads.KV)
	})
}

func (goKernels) logProbs(l *logProbs, lo, hi int) {
	reference.LogProbs(l.logp[lo:hi], l.lse[lo:hi], part(l.entropy, lo, hi), l.rows(lo, hi), l.targets[lo:hi], l.temperature)
}

func (goKernels) logProbsGrad(l *logProbs, lo, hi int) {
	reference.LogProbsGrad(l.rows(lo, hi), l.lse[lo:hi], part(l.entropy, lo, hi), l.targets[lo:hi],
		l.dlogp[lo:hi], part(l.dentropy, lo, hi), l.temperature)
}

func (goKernels) sumSquares(src []float32) float64 { return reference.SumSquares(src) }

func (goKernels) adamW(param, grad, m, v []float32, s tensor.AdamWStep) {
	reference.AdamW(param, grad, m, v, s)
}
