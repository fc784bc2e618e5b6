package cpu

/*
#include "kernels.h"

static void pack_block(const cr_kernels *s, float *dst, const uint8_t *src, int dtype, long stride, long depth,
                       long cols, long lo, long hi, float *scratch) {
    s->pack_block(dst, src, dtype, stride, depth, cols, lo, hi, scratch);
}
static void add_block(const cr_kernels *s, float *c, long ldc, const float *a, long lda, int by_columns, const float *b,
                      long rows, long cols, long depth) {
    s->add_block(c, ldc, a, lda, by_columns, b, rows, cols, depth);
}
*/
import "C"

import (
	"unsafe"

	"github.com/coderl/cr/runtime/tensor"
)

// A block of the right operand has at most blockWidth columns, which with the
// kernels' depth leave room in a second-level cache of a megabyte, in units that
// both stored blocks and panels divide.
const (
	blockWidth   = 576
	blockColumns = 96
)

// sum is c[m,n] += Σ_p a(i,p)·b[p,n], p < depth; a(i,p) is a[i·lda+p], or
// a[p·lda+i] where byColumns.
type sum struct {
	c, a        []float32
	b           []byte
	dtype       tensor.DType
	m, n, depth int
	lda         int
	byColumns   bool
}

func (c cKernels) matMulGradX(p *pool, dx, dy []float32, w product) {
	c.addProduct(p, sum{c: dx, a: dy, b: w.w, dtype: w.dtype, m: w.m, n: w.k, depth: w.n, lda: w.n})
}

func (c cKernels) matMulGradW(p *pool, dw, dy, x []float32, m, n, k int) {
	c.addProduct(p, sum{c: dw, a: dy, b: bytesOf(x), dtype: tensor.F32, m: n, n: k, depth: m, lda: n, byColumns: true})
}

// even returns the length of equal parts of total, none longer than most, in
// whole units.
func even(total, most, unit int) int {
	parts := (total + most - 1) / most
	return ((total+parts-1)/parts + unit - 1) / unit * unit
}

// addProduct goes through b block by block: threads decode one together, then
// share the rows of c.
func (c cKernels) addProduct(p *pool, s sum) {
	width, depth := even(s.n, blockWidth, blockColumns), even(s.depth, int(c.set.sum_depth), 1)
	block := c.scratch(width * depth)
	defer c.giveBack(block)
	for col := 0; col < s.n; col += width {
		cols := min(width, s.n-col)
		for row := 0; row < s.depth; row += depth {
			rows := min(depth, s.depth-row)
			p.split(rows, 1, cols, func(lo, hi int) { c.packBlock(*block, s, row, rows, col, cols, lo, hi) })
			p.split(s.m, int(c.set.sum_rows), rows*cols/8, func(lo, hi int) { c.addBlock(s, *block, row, rows, col, cols, lo, hi) })
		}
	}
}

// packBlock packs rows [lo, hi) of a block of b.
func (c cKernels) packBlock(block []float32, s sum, row, rows, col, cols, lo, hi int) {
	line := c.scratch(blockWidth)
	stride := s.dtype.Bytes(s.n)
	src := s.b[row*stride+s.dtype.Bytes(col):]
	C.pack_block(c.set, f32(block), u8(src), C.int(s.dtype), C.long(stride), C.long(rows), C.long(cols), C.long(lo), C.long(hi),
		scratchOf(line))
	c.giveBack(line)
}

// addBlock adds the product with a block to rows [lo, hi) of c.
func (c cKernels) addBlock(s sum, block []float32, row, rows, col, cols, lo, hi int) {
	at, by := lo*s.lda+row, C.int(0)
	if s.byColumns {
		at, by = row*s.lda+lo, 1
	}
	C.add_block(c.set, f32(s.c[lo*s.n+col:]), C.long(s.n), f32(s.a[at:]), C.long(s.lda), by, f32(block), C.long(hi-lo),
		C.long(cols), C.long(rows))
}

// bytesOf views values as the bytes of an F32 weight.
func bytesOf(values []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 4*len(values))
}
