package cpu

/*
#include "kernels.h"

static long add_product_scratch(const cr_kernels *s, long cols) { return s->add_product_scratch(cols); }
static void add_product(const cr_kernels *s, float *c, const float *a, const uint8_t *b, int dtype, int by_columns, long n,
                        long depth, long lda, long row, long rows, long col, long cols, float *scratch) {
    const product_sum sum = {c, a, b, dtype, by_columns, n, depth, lda};
    s->add_product(&sum, row, rows, col, cols, scratch);
}
*/
import "C"

import (
	"unsafe"

	"github.com/coderl/cr/runtime/tensor"
)

// sum is c[m,n] += Σ_p a(i,p)·b[p,n], p < depth; a(i,p) is a[i·lda+p], or
// a[p·lda+i] where byColumns.
type sum struct {
	c, a             []float32
	b                []byte
	dtype            tensor.DType
	m, n, depth, lda int
	byColumns        C.int
}

func (c cKernels) matMulGradX(p *pool, dx, dy []float32, w product) {
	c.addProduct(p, sum{c: dx, a: dy, b: w.w, dtype: w.dtype, m: w.m, n: w.k, depth: w.n, lda: w.n})
}

func (c cKernels) matMulGradW(p *pool, dw, dy, x []float32, m, n, k int) {
	c.addProduct(p, sum{c: dw, a: dy, b: bytesOf(x), dtype: tensor.F32, m: n, n: k, depth: m, lda: n, byColumns: 1})
}

// Tiles of a sum that one task takes, in rows and columns: as large as a
// second-level cache of a megabyte takes with its block of b, and no smaller
// than pays for the block. Columns are in units that stored blocks and panels
// divide.
const (
	sumRows, leastRows    = 256, 48
	sumColumns, leastCols = 576, 96
)

// even returns the length of equal parts of total, none longer than most, in
// whole units.
func even(total, most, unit int) int {
	parts := (total + most - 1) / most
	return ((total+parts-1)/parts + unit - 1) / unit * unit
}

// addProduct spreads the sum over tiles, each of which prepares its own blocks:
// that costs less than to wait for a shared one. An element's bits do not depend
// on its tile.
func (c cKernels) addProduct(p *pool, s sum) {
	rows, cols := even(s.m, sumRows, leastRows), even(s.n, sumColumns, leastCols)
	tiles := func() int { return (s.m + rows - 1) / rows * ((s.n + cols - 1) / cols) }
	for tiles() < 4*p.threads && (rows > leastRows || cols > leastCols) {
		if rows >= cols {
			rows = even(rows, (rows+1)/2, leastRows)
		} else {
			cols = even(cols, (cols+1)/2, leastCols)
		}
	}
	across := (s.n + cols - 1) / cols
	p.split(tiles(), 1, rows*cols/8*s.depth, func(lo, hi int) {
		scratch := c.scratch(int(C.add_product_scratch(c.set, C.long(cols))))
		for i := lo; i < hi; i++ {
			row, col := i/across*rows, i%across*cols
			C.add_product(c.set, f32(s.c), f32(s.a), u8(s.b), C.int(s.dtype), s.byColumns, C.long(s.n), C.long(s.depth),
				C.long(s.lda), C.long(row), C.long(min(rows, s.m-row)), C.long(col), C.long(min(cols, s.n-col)), scratchOf(scratch))
		}
		c.giveBack(scratch)
	})
}

// bytesOf views values as the bytes of an F32 weight.
func bytesOf(values []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 4*len(values))
}
