package cpu

/*
#include "kernels.h"

static void packed_attention(const cr_kernels *s, float *dst, float *lse, const float *q, const float *k, const float *v,
                             attention_shape shape, const int32_t *pos, long start, long lo, long hi, long kv_head,
                             float *scratch) {
    s->packed_attention(dst, lse, q, k, v, shape, pos, start, lo, hi, kv_head, scratch);
}
static long packed_scratch(const cr_kernels *s, long rows, attention_shape shape) { return s->packed_scratch(rows, shape); }
static void packed_attention_grad(const cr_kernels *s, float *dq, float *dk, float *dv, const float *dy, const float *out,
                                  const float *lse, const float *q, const float *k, const float *v, attention_shape shape,
                                  long start, long lo, long hi, long kv_head, float *scratch) {
    const packed_grad g = {dq, dy, out, lse, q, k, v, shape};
    s->packed_attention_grad(&g, dk, dv, start, lo, hi, kv_head, scratch);
}
static long packed_grad_scratch(const cr_kernels *s, long rows, attention_shape shape) {
    return s->packed_grad_scratch(rows, shape);
}
*/
import "C"

func (a *packedAttention) shape() C.attention_shape {
	return C.attention_shape{
		heads: C.long(a.heads.Query), kv_heads: C.long(a.heads.KV), dim: C.long(a.heads.Dim), scale: C.float(a.scale),
	}
}

func (c cKernels) packedAttention(a *packedAttention, s segment, lo, hi, kv int) {
	scratch := c.scratch(int(C.packed_scratch(c.set, C.long(hi-lo), a.shape())))
	C.packed_attention(c.set, f32(a.out), f32(a.lse), f32(a.q), f32(a.k), f32(a.v), a.shape(), i32(a.pos), C.long(s.start),
		C.long(lo), C.long(hi), C.long(kv), scratchOf(scratch))
	c.giveBack(scratch)
}

// packedSlice is how many query rows one task of the backward pass takes. The
// slices of a longer segment add up dk and dv apart, so that they can run at the
// same time and the sum keeps one order.
const packedSlice = 512

// gradSlice is a slice with where the gradients of its segment's rows begin.
type gradSlice struct {
	tile
	dk, dv []float32
}

// slices cuts the segments; those of several slices get sums of their own.
func (a *packedAttention) slices() []gradSlice {
	width := a.heads.KV * a.heads.Dim
	var all []gradSlice
	for _, t := range a.tiles(packedSlice) {
		s := gradSlice{tile: t, dk: a.dk[t.start*width:], dv: a.dv[t.start*width:]}
		if t.end-t.start > packedSlice {
			n := (t.hi - t.start) * width
			s.dk, s.dv = make([]float32, n), make([]float32, n)
		}
		all = append(all, s)
	}
	return all
}

func (c cKernels) packedAttentionGrad(p *pool, a *packedAttention) {
	slices := a.slices()
	p.do(len(slices)*a.heads.KV, func(i int) {
		// The last slice of a segment sees most keys: it goes first.
		s := slices[len(slices)-1-i/a.heads.KV]
		scratch := c.scratch(int(C.packed_grad_scratch(c.set, C.long(s.hi-s.lo), a.shape())))
		C.packed_attention_grad(c.set, f32(a.dq), f32(s.dk), f32(s.dv), f32(a.dy), f32(a.out), f32(a.lse), f32(a.q), f32(a.k),
			f32(a.v), a.shape(), C.long(s.start), C.long(s.lo), C.long(s.hi), C.long(i%a.heads.KV), scratchOf(scratch))
		c.giveBack(scratch)
	})
	width := a.heads.KV * a.heads.Dim
	for _, s := range slices {
		if s.end-s.start <= packedSlice {
			continue
		}
		dk, dv := a.dk[s.start*width:], a.dv[s.start*width:]
		p.split(len(s.dk), cacheLine/4, 2, func(lo, hi int) {
			c.addScaled(dk[lo:hi], s.dk[lo:hi], 1)
			c.addScaled(dv[lo:hi], s.dv[lo:hi], 1)
		})
	}
}
