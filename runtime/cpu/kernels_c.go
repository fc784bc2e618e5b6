package cpu

/*
#cgo CFLAGS: -std=c11 -O3 -Wall -Wextra -Wno-psabi
#cgo linux LDFLAGS: -lm
#include "kernels.h"

static void decode(const cr_kernels *s, float *dst, int dtype, const uint8_t *src, long n) {
    s->decode(dst, dtype, src, n);
}
static void rms_norm(const cr_kernels *s, float *dst, const float *x, const float *w, long rows, long d, float eps) {
    s->rms_norm(dst, x, w, rows, d, eps);
}
static long mat_mul_scratch(const cr_kernels *s, long m, long k) { return s->mat_mul_scratch(m, k); }
static void mat_mul(const cr_kernels *s, float *dst, const float *x, const uint8_t *w, int dtype, long m, long n,
                    long k, long lo, long hi, float *scratch) {
    s->mat_mul(dst, x, w, dtype, m, n, k, lo, hi, scratch);
}
static void add(const cr_kernels *s, float *dst, const float *a, const float *b, long n, long b_len) {
    s->add(dst, a, b, n, b_len);
}
static void silu_mul(const cr_kernels *s, float *dst, const float *gate, const float *up, long n) {
    s->silu_mul(dst, gate, up, n);
}
static void rope(const cr_kernels *s, float *x, const float *cos, const float *sin, long rows, long heads, long half) {
    s->rope(x, cos, sin, rows, heads, half);
}
static long attention_scratch(const cr_kernels *s, long rows, attention_shape shape) {
    return s->attention_scratch(rows, shape);
}
static void attention(const cr_kernels *s, float *dst, const float *q, const float *k, const float *v,
                      attention_shape shape, const int32_t *pos, const int32_t *first, const int32_t *pages, long lo,
                      long hi, long kv_head, float *scratch) {
    s->attention(dst, q, k, v, shape, pos, first, pages, lo, hi, kv_head, scratch);
}
*/
import "C"

import (
	"sync"
	"unsafe"

	"github.com/coderl/cr/runtime/tensor"
)

// cKernels is one set of C kernels. Each method is one call into C.
type cKernels struct {
	goKernels // whatever has no C kernel
	label     string
	set       *C.cr_kernels
	spare     *sync.Pool // *[]float32, scratch between calls
}

func newCKernels(label string, set *C.cr_kernels) kernels {
	return cKernels{goKernels: goKernels{}, label: label, set: set, spare: &sync.Pool{New: func() any { return new([]float32) }}}
}

func portableKernels() kernels { return newCKernels("c", &C.cr_kernels_portable) }

// scratch lends n floats until giveBack.
func (c cKernels) scratch(n int) *[]float32 {
	s := c.spare.Get().(*[]float32)
	if len(*s) < n {
		*s = floatsOf(alignedBytes(4 * n))
	}
	return s
}

func (c cKernels) giveBack(s *[]float32) { c.spare.Put(s) }

func (c cKernels) name() string { return c.label }

func (c cKernels) decode(dst []float32, d tensor.DType, src []byte) {
	if len(dst) > 0 {
		C.decode(c.set, f32(dst), C.int(d), u8(src), C.long(len(dst)))
	}
}

func (c cKernels) rmsNorm(dst, x, weight []float32, eps float32) {
	rows := len(x) / len(weight)
	C.rms_norm(c.set, f32(dst), f32(x), f32(weight), C.long(rows), C.long(len(weight)), C.float(eps))
}

func (c cKernels) matMul(p product, lo, hi int) {
	m, n, k := C.long(p.m), C.long(p.n), C.long(p.k)
	s := c.scratch(int(C.mat_mul_scratch(c.set, m, k)))
	C.mat_mul(c.set, f32(p.dst), f32(p.x), u8(p.w), C.int(p.dtype), m, n, k, C.long(lo), C.long(hi), scratchOf(s))
	c.giveBack(s)
}

func (c cKernels) add(dst, a, b []float32) {
	C.add(c.set, f32(dst), f32(a), f32(b), C.long(len(a)), C.long(len(b)))
}

func (c cKernels) siluMul(dst, gate, up []float32) {
	C.silu_mul(c.set, f32(dst), f32(gate), f32(up), C.long(len(dst)))
}

func (c cKernels) rope(x, cos, sin []float32, heads, half int) {
	rows := len(x) / (heads * 2 * half)
	C.rope(c.set, f32(x), f32(cos), f32(sin), C.long(rows), C.long(heads), C.long(half))
}

func (c cKernels) attention(a *attention, lo, hi, kvHead int) {
	shape := C.attention_shape{
		heads: C.long(a.heads.Query), kv_heads: C.long(a.heads.KV), dim: C.long(a.heads.Dim),
		scale: C.float(a.batch.Scale),
	}
	s := c.scratch(int(C.attention_scratch(c.set, C.long(hi-lo), shape)))
	C.attention(c.set, f32(a.dst), f32(a.q), f32(a.k), f32(a.v), shape, i32(a.batch.Pos), i32(a.first), i32(a.pages),
		C.long(lo), C.long(hi), C.long(kvHead), scratchOf(s))
	c.giveBack(s)
}

// f32, u8 and i32 are the addresses of a slice that has elements.
func f32(s []float32) *C.float { return (*C.float)(unsafe.Pointer(&s[0])) }
func u8(s []byte) *C.uint8_t   { return (*C.uint8_t)(unsafe.Pointer(&s[0])) }
func i32(s []int32) *C.int32_t { return (*C.int32_t)(unsafe.Pointer(&s[0])) }

// scratchOf is f32 of scratch, which may be empty.
func scratchOf(s *[]float32) *C.float {
	return (*C.float)(unsafe.Pointer(unsafe.SliceData(*s)))
}
