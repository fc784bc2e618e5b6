package cpu

import (
	"github.com/coderl/cr/runtime/tensor"
)

var _ tensor.TrainingDevice = (*Device)(nil)

// Zero implements [tensor.TrainingDevice].
func (d *Device) Zero(dst tensor.Tensor) {
	if d.fail(tensor.CheckZero(dst)) {
		return
	}
	out := d.output("Zero", dst)
	if d.err != nil {
		return
	}
	d.pool.split(len(out), cacheLine, 1, func(lo, hi int) { clear(out[lo:hi]) })
}

// Convert implements [tensor.TrainingDevice].
func (d *Device) Convert(dst, src tensor.Tensor) {
	if d.fail(tensor.CheckConvert(dst, src)) {
		return
	}
	out, in := d.output("Convert", dst), d.input("Convert", src)
	if d.err != nil {
		return
	}
	to, from := dst.DType.Bytes(1), src.DType.Bytes(1)
	d.pool.split(dst.Len(), cacheLine, 1, func(lo, hi int) {
		d.kern.convert(out[lo*to:hi*to], dst.DType, in[lo*from:hi*from], src.DType)
	})
}

// AddScaled implements [tensor.TrainingDevice].
func (d *Device) AddScaled(dst, src tensor.Tensor, scale float32) {
	if d.fail(tensor.CheckAddScaled(dst, src)) {
		return
	}
	out, in := d.output("AddScaled", dst), d.input("AddScaled", src)
	if d.err != nil {
		return
	}
	to, from := floatsOf(out), floatsOf(in)
	d.pool.split(len(to), cacheLine/4, 1, func(lo, hi int) { d.kern.addScaled(to[lo:hi], from[lo:hi], scale) })
}

// AddRows implements [tensor.TrainingDevice]. Threads share the columns, so that
// each sum keeps the order of the rows.
func (d *Device) AddRows(dst, src, rows tensor.Tensor) {
	if d.fail(tensor.CheckAddRows(dst, src, rows)) {
		return
	}
	out, in, at := d.output("AddRows", dst), d.input("AddRows", src), d.input("AddRows", rows)
	if d.err != nil || d.fail(tensor.CheckIndices("AddRows", intsOf(at), dst.Shape[0])) || len(in) == 0 {
		return
	}
	to, from, ids := floatsOf(out), floatsOf(in), intsOf(at)
	k := len(from) / len(ids)
	d.pool.split(k, cacheLine/4, len(ids), func(lo, hi int) { d.kern.addRows(to, from, ids, k, lo, hi) })
}

// SumRows implements [tensor.TrainingDevice].
func (d *Device) SumRows(dst, src tensor.Tensor) {
	if d.fail(tensor.CheckSumRows(dst, src)) {
		return
	}
	out, in := d.output("SumRows", dst), d.input("SumRows", src)
	if d.err != nil || len(in) == 0 {
		return
	}
	to, from := floatsOf(out), floatsOf(in)
	d.pool.split(len(to), cacheLine/4, len(from)/len(to), func(lo, hi int) { d.kern.sumRows(to, from, lo, hi) })
}

// MatMulGradX implements [tensor.TrainingDevice].
func (d *Device) MatMulGradX(dx, dy, w tensor.Tensor) {
	if d.fail(tensor.CheckMatMulGradX(dx, dy, w)) {
		return
	}
	out, in, weights := d.output("MatMulGradX", dx), d.input("MatMulGradX", dy), d.input("MatMulGradX", w)
	if d.err != nil || len(out) == 0 || len(in) == 0 {
		return
	}
	p := product{w: weights, dtype: w.DType, m: dx.Shape[0], n: w.Shape[0], k: w.Shape[1]}
	d.kern.matMulGradX(d.pool, floatsOf(out), floatsOf(in), p)
}

// MatMulGradW implements [tensor.TrainingDevice].
func (d *Device) MatMulGradW(dw, dy, x tensor.Tensor) {
	if d.fail(tensor.CheckMatMulGradW(dw, dy, x)) {
		return
	}
	out, left, right := d.output("MatMulGradW", dw), d.input("MatMulGradW", dy), d.input("MatMulGradW", x)
	if d.err != nil || len(out) == 0 || len(left) == 0 {
		return
	}
	d.kern.matMulGradW(d.pool, floatsOf(out), floatsOf(left), floatsOf(right), x.Shape[0], dw.Shape[0], dw.Shape[1])
}

// normBlock is how many elements one partial sum of dweight covers.
const normBlock = 1 << 15

// RMSNormGrad implements [tensor.TrainingDevice]. The gradient of the weight is
// summed over blocks of rows whose number depends on the shape alone, and these
// are added in order.
func (d *Device) RMSNormGrad(dx, dweight, dy, x, weight tensor.Tensor, eps float32) {
	if d.fail(tensor.CheckRMSNormGrad(dx, dweight, dy, x, weight)) {
		return
	}
	out, by, in, w := d.output("RMSNormGrad", dx), d.input("RMSNormGrad", dy), d.input("RMSNormGrad", x), d.input("RMSNormGrad", weight)
	var sum []byte
	if dweight.Mem != nil {
		sum = d.output("RMSNormGrad", dweight)
	}
	if d.err != nil || len(in) == 0 {
		return
	}
	to, g, from, scale, total := floatsOf(out), floatsOf(by), floatsOf(in), floatsOf(w), floatsOf(sum)
	k := len(scale)
	height := max(1, normBlock/k) * k
	blocks := (len(from) + height - 1) / height
	partial := make([]float32, blocks*len(total))
	d.pool.do(blocks, func(i int) {
		lo, hi := i*height, min(len(from), (i+1)*height)
		d.kern.rmsNormGrad(to[lo:hi], partial[i*len(total):][:len(total)], g[lo:hi], from[lo:hi], scale, eps)
	})
	for i := 0; i < len(partial); i += k {
		d.kern.addScaled(total, partial[i:i+k], 1)
	}
}

// SiLUMulGrad implements [tensor.TrainingDevice].
func (d *Device) SiLUMulGrad(dgate, dup, dy, gate, up tensor.Tensor) {
	if d.fail(tensor.CheckSiLUMulGrad(dgate, dup, dy, gate, up)) {
		return
	}
	const op = "SiLUMulGrad"
	outGate, outUp := d.output(op, dgate), d.output(op, dup)
	by, inGate, inUp := d.input(op, dy), d.input(op, gate), d.input(op, up)
	if d.err != nil {
		return
	}
	a, b, y, g, u := floatsOf(outGate), floatsOf(outUp), floatsOf(by), floatsOf(inGate), floatsOf(inUp)
	d.pool.split(len(g), cacheLine/4, 2, func(lo, hi int) {
		d.kern.siluMulGrad(a[lo:hi], b[lo:hi], y[lo:hi], g[lo:hi], u[lo:hi])
	})
}
