package cpu

import "github.com/coderl/cr/runtime/tensor"

// squareBlock is how many squares are summed together before the sums of the
// blocks are added in order.
const squareBlock = 1 << 16

// SumSquares implements [tensor.TrainingDevice].
func (d *Device) SumSquares(dst, src tensor.Tensor) {
	if d.fail(tensor.CheckSumSquares(dst, src)) {
		return
	}
	out, in := d.output("SumSquares", dst), d.input("SumSquares", src)
	if d.err != nil {
		return
	}
	values := floatsOf(in)
	sums := make([]float64, (len(values)+squareBlock-1)/squareBlock)
	d.pool.do(len(sums), func(i int) {
		sums[i] = d.kern.sumSquares(values[i*squareBlock : min(len(values), (i+1)*squareBlock)])
	})
	total := 0.0
	for _, s := range sums {
		total += s
	}
	floatsOf(out)[0] = float32(total)
}

// AdamW implements [tensor.TrainingDevice].
func (d *Device) AdamW(param, grad, m, v tensor.Tensor, s tensor.AdamWStep) {
	if d.fail(tensor.CheckAdamW(param, grad, m, v, s)) {
		return
	}
	out, in, first, second := d.output("AdamW", param), d.input("AdamW", grad), d.output("AdamW", m), d.output("AdamW", v)
	if d.err != nil {
		return
	}
	p, g, a, b := floatsOf(out), floatsOf(in), floatsOf(first), floatsOf(second)
	d.pool.split(len(p), cacheLine/4, 2, func(lo, hi int) { d.kern.adamW(p[lo:hi], g[lo:hi], a[lo:hi], b[lo:hi], s) })
}
