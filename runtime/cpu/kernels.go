package cpu

import "github.com/coderl/cr/runtime/tensor"

// columnTile is the number of weight rows that kernels take together; ranges of
// columns are multiples of it.
const columnTile = 16

// product is the operands of a matrix product, dst[m,n] = Σ_k x[m,k]·w[n,k].
type product struct {
	dst, x  []float32
	w       []byte
	dtype   tensor.DType
	m, n, k int
}

// kernels is one set of inner loops. Each call works on the rows, columns or
// elements it is given, on the calling thread.
type kernels interface {
	name() string
	decode(dst []float32, d tensor.DType, src []byte)
	rmsNorm(dst, x, weight []float32, eps float32)
	matMul(p product, lo, hi int) // columns [lo, hi)
	add(dst, a, b []float32)      // b as long as a, or one row of it
	siluMul(dst, gate, up []float32)
	rope(x, cos, sin []float32, heads, half int)
	attention(a *attention, lo, hi, kvHead int) // query rows [lo, hi)
	trainingKernels
}

// trainingKernels are the loops of a [tensor.TrainingDevice]. Those that take
// the pool spread their work themselves, since threads share what they prepare.
type trainingKernels interface {
	convert(dst []byte, to tensor.DType, src []byte, from tensor.DType)
	addScaled(dst, src []float32, scale float32)
	addRows(dst, src []float32, rows []int32, k, lo, hi int)       // columns [lo, hi)
	sumRows(dst, src []float32, lo, hi int)                        // columns [lo, hi)
	matMulGradX(p *pool, dx, dy []float32, w product)              // w without dst and x
	matMulGradW(p *pool, dw, dy, x []float32, m, n, k int)         //
	rmsNormGrad(dx, dweight, dy, x, weight []float32, eps float32) // dweight may be nil
	siluMulGrad(dgate, dup, dy, gate, up []float32)                //
	packedAttention(a *packedAttention, s segment, lo, hi, kv int) // query rows [lo, hi)
	packedAttentionGrad(p *pool, a *packedAttention)               //
	logProbs(l *logProbs, lo, hi int)                              // rows [lo, hi)
	logProbsGrad(l *logProbs, lo, hi int)                          // rows [lo, hi)
	sumSquares(src []float32) float64                              //
	adamW(param, grad, m, v []float32, s tensor.AdamWStep)         //
}

// fastest returns the best kernels of this processor.
func fastest() kernels {
	all := available()
	return all[len(all)-1]
}
