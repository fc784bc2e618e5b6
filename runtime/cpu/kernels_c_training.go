package cpu

/*
#include "kernels.h"

static void convert(const cr_kernels *s, uint8_t *dst, int to, const uint8_t *src, int from, long n) {
    s->convert(dst, to, src, from, n);
}
static void add_scaled(const cr_kernels *s, float *dst, const float *src, float scale, long n) {
    s->add_scaled(dst, src, scale, n);
}
static void add_rows(const cr_kernels *s, float *dst, const float *src, const int32_t *rows, long n, long k, long lo,
                     long hi) {
    s->add_rows(dst, src, rows, n, k, lo, hi);
}
static void sum_rows(const cr_kernels *s, float *dst, const float *src, long n, long k, long lo, long hi) {
    s->sum_rows(dst, src, n, k, lo, hi);
}
static void rms_norm_grad(const cr_kernels *s, float *dx, float *dweight, const float *dy, const float *x, const float *w,
                          long rows, long d, float eps) {
    s->rms_norm_grad(dx, dweight, dy, x, w, rows, d, eps);
}
static void silu_mul_grad(const cr_kernels *s, float *dgate, float *dup, const float *dy, const float *gate,
                          const float *up, long n) {
    s->silu_mul_grad(dgate, dup, dy, gate, up, n);
}
static void log_probs(const cr_kernels *s, float *logp, float *lse, float *entropy, const float *logits,
                      const int32_t *targets, long rows, long vocab, float temperature) {
    s->log_probs(logp, lse, entropy, logits, targets, rows, vocab, temperature);
}
static void log_probs_grad(const cr_kernels *s, float *logits, const float *lse, const float *entropy,
                           const int32_t *targets, const float *dlogp, const float *dentropy, long rows, long vocab,
                           float temperature) {
    s->log_probs_grad(logits, lse, entropy, targets, dlogp, dentropy, rows, vocab, temperature);
}
static double sum_squares(const cr_kernels *s, const float *x, long n) { return s->sum_squares(x, n); }
static void adamw(const cr_kernels *s, float *param, const float *grad, float *m, float *v, adamw_step step, long n) {
    s->adamw(param, grad, m, v, step, n);
}
*/
import "C"

import (
	"math"

	"github.com/coderl/cr/runtime/tensor"
)

// optional is f32 of values that may be absent, which C sees as NULL.
func optional(values []float32) *C.float {
	if len(values) == 0 {
		return nil
	}
	return f32(values)
}

func (c cKernels) convert(dst []byte, to tensor.DType, src []byte, from tensor.DType) {
	C.convert(c.set, u8(dst), C.int(to), u8(src), C.int(from), C.long(len(src)/from.Bytes(1)))
}

func (c cKernels) addScaled(dst, src []float32, scale float32) {
	C.add_scaled(c.set, f32(dst), f32(src), C.float(scale), C.long(len(dst)))
}

func (c cKernels) addRows(dst, src []float32, rows []int32, k, lo, hi int) {
	C.add_rows(c.set, f32(dst), f32(src), i32(rows), C.long(len(rows)), C.long(k), C.long(lo), C.long(hi))
}

func (c cKernels) sumRows(dst, src []float32, lo, hi int) {
	k := len(dst)
	C.sum_rows(c.set, f32(dst), f32(src), C.long(len(src)/k), C.long(k), C.long(lo), C.long(hi))
}

func (c cKernels) rmsNormGrad(dx, dweight, dy, x, weight []float32, eps float32) {
	d := len(weight)
	C.rms_norm_grad(c.set, f32(dx), optional(dweight), f32(dy), f32(x), f32(weight), C.long(len(x)/d), C.long(d), C.float(eps))
}

func (c cKernels) siluMulGrad(dgate, dup, dy, gate, up []float32) {
	C.silu_mul_grad(c.set, f32(dgate), f32(dup), f32(dy), f32(gate), f32(up), C.long(len(gate)))
}

func (c cKernels) logProbs(l *logProbs, lo, hi int) {
	C.log_probs(c.set, f32(l.logp[lo:hi]), f32(l.lse[lo:hi]), optional(part(l.entropy, lo, hi)), f32(l.rows(lo, hi)),
		i32(l.targets[lo:hi]), C.long(hi-lo), C.long(l.vocab), C.float(l.temperature))
}

func (c cKernels) logProbsGrad(l *logProbs, lo, hi int) {
	C.log_probs_grad(c.set, f32(l.rows(lo, hi)), f32(l.lse[lo:hi]), optional(part(l.entropy, lo, hi)), i32(l.targets[lo:hi]),
		f32(l.dlogp[lo:hi]), optional(part(l.dentropy, lo, hi)), C.long(hi-lo), C.long(l.vocab), C.float(l.temperature))
}

func (c cKernels) sumSquares(src []float32) float64 {
	return float64(C.sum_squares(c.set, f32(src), C.long(len(src))))
}

func (c cKernels) adamW(param, grad, m, v []float32, s tensor.AdamWStep) {
	step := s.LR / (1 - math.Pow(s.Beta1, float64(s.Step)))
	root := math.Sqrt(1 - math.Pow(s.Beta2, float64(s.Step)))
	C.adamw(c.set, f32(param), f32(grad), f32(m), f32(v), C.adamw_step{
		grad_scale: C.float(s.GradScale), decay: C.float(1 - s.LR*s.WeightDecay), beta1: C.float(s.Beta1),
		rest1: C.float(1 - s.Beta1), beta2: C.float(s.Beta2), rest2: C.float(1 - s.Beta2), step: C.float(step),
		inv_root: C.float(1 / root), eps: C.float(s.Eps),
	}, C.long(len(param)))
}
