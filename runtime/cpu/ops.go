package cpu

import (
	"slices"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

// Embed implements [tensor.Device].
func (d *Device) Embed(dst, table, ids tensor.Tensor) {
	if d.fail(tensor.CheckEmbed(dst, table, ids)) {
		return
	}
	out, from, at := d.output("Embed", dst), d.input("Embed", table), d.input("Embed", ids)
	if d.err != nil || d.fail(tensor.CheckIndices("Embed", intsOf(at), table.Shape[0])) {
		return
	}
	to, rows, k := floatsOf(out), intsOf(at), table.Shape[1]
	stride := table.DType.Bytes(k)
	d.pool.split(len(rows), 1, k, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d.kern.decode(to[i*k:][:k], table.DType, from[int(rows[i])*stride:][:stride])
		}
	})
}

// RMSNorm implements [tensor.Device].
func (d *Device) RMSNorm(dst, x, weight tensor.Tensor, eps float32) {
	if d.fail(tensor.CheckRMSNorm(dst, x, weight)) {
		return
	}
	out, in, w := d.output("RMSNorm", dst), d.input("RMSNorm", x), d.input("RMSNorm", weight)
	if d.err != nil || len(in) == 0 {
		return
	}
	to, from, scale := floatsOf(out), floatsOf(in), floatsOf(w)
	k := len(scale)
	d.pool.split(len(from)/k, 1, k, func(lo, hi int) {
		d.kern.rmsNorm(to[lo*k:hi*k], from[lo*k:hi*k], scale, eps)
	})
}

// MatMul implements [tensor.Device].
func (d *Device) MatMul(dst, x, w tensor.Tensor) {
	if d.fail(tensor.CheckMatMul(dst, x, w)) {
		return
	}
	out, in, weights := d.output("MatMul", dst), d.input("MatMul", x), d.input("MatMul", w)
	if d.err != nil {
		return
	}
	p := product{
		dst: floatsOf(out), w: weights, dtype: w.DType,
		m: x.Shape[0], n: w.Shape[0], k: x.Shape[1],
	}
	p.x = apart(p.dst, floatsOf(in))
	if len(p.dst) == 0 {
		return
	}
	if p.k == 0 {
		clear(p.dst)
		return
	}
	d.pool.split(p.n, columnTile, p.m*p.k/8, func(lo, hi int) { d.kern.matMul(p, lo, hi) })
}

// Add implements [tensor.Device].
func (d *Device) Add(dst, a, b tensor.Tensor) {
	if d.fail(tensor.CheckAdd(dst, a, b)) {
		return
	}
	out, left, right := d.output("Add", dst), d.input("Add", a), d.input("Add", b)
	if d.err != nil || len(left) == 0 {
		return
	}
	to, from, add := floatsOf(out), floatsOf(left), floatsOf(right)
	if len(add) < len(from) {
		k := len(add)
		d.pool.split(len(from)/k, 1, k, func(lo, hi int) {
			d.kern.add(to[lo*k:hi*k], from[lo*k:hi*k], add)
		})
		return
	}
	d.pool.split(len(from), cacheLine/4, 1, func(lo, hi int) {
		d.kern.add(to[lo:hi], from[lo:hi], add[lo:hi])
	})
}

// SiLUMul implements [tensor.Device].
func (d *Device) SiLUMul(dst, gate, up tensor.Tensor) {
	if d.fail(tensor.CheckSiLUMul(dst, gate, up)) {
		return
	}
	out, in, by := d.output("SiLUMul", dst), d.input("SiLUMul", gate), d.input("SiLUMul", up)
	if d.err != nil {
		return
	}
	to, from, factor := floatsOf(out), floatsOf(in), floatsOf(by)
	d.pool.split(len(from), cacheLine/4, 1, func(lo, hi int) {
		d.kern.siluMul(to[lo:hi], from[lo:hi], factor[lo:hi])
	})
}

// ropeTable keeps the sines and cosines of the last call: every layer of a
// forward pass rotates by the same angles.
type ropeTable struct {
	positions         []int32
	invFreq, cos, sin []float32
	scale             float32
}

// at fills the table unless it is already the one asked for.
func (r *ropeTable) at(positions []int32, invFreq []float32, scale float32) {
	if scale == r.scale && slices.Equal(positions, r.positions) && slices.Equal(invFreq, r.invFreq) {
		return
	}
	n := len(positions) * len(invFreq)
	r.cos, r.sin = slices.Grow(r.cos[:0], n)[:n], slices.Grow(r.sin[:0], n)[:n]
	r.positions = append(r.positions[:0], positions...)
	r.invFreq = append(r.invFreq[:0], invFreq...)
	r.scale = scale
	reference.RoPETable(r.cos, r.sin, positions, invFreq, scale)
}

// RoPE implements [tensor.Device].
func (d *Device) RoPE(x, positions, invFreq tensor.Tensor, scale float32) {
	if d.fail(tensor.CheckRoPE(x, positions, invFreq)) {
		return
	}
	out, at, freq := d.output("RoPE", x), d.input("RoPE", positions), d.input("RoPE", invFreq)
	if d.err != nil || len(out) == 0 {
		return
	}
	table := &d.angles
	table.at(intsOf(at), floatsOf(freq), scale)
	heads, half, values := x.Shape[1], x.Shape[2]/2, floatsOf(out)
	row := heads * 2 * half
	d.pool.split(x.Shape[0], 1, row, func(lo, hi int) {
		d.kern.rope(values[lo*row:hi*row], table.cos[lo*half:hi*half], table.sin[lo*half:hi*half], heads, half)
	})
}

// CopyRows implements [tensor.Device].
func (d *Device) CopyRows(dst, src, rows tensor.Tensor) {
	if d.fail(tensor.CheckCopyRows(dst, src, rows)) {
		return
	}
	out, in, at := d.output("CopyRows", dst), d.input("CopyRows", src), d.input("CopyRows", rows)
	if d.err != nil || d.fail(tensor.CheckIndices("CopyRows", intsOf(at), src.Shape[0])) || len(out) == 0 {
		return
	}
	to := floatsOf(out)
	from, k := apart(to, floatsOf(in)), len(to)/dst.Shape[0]
	for i, r := range intsOf(at) {
		copy(to[i*k:][:k], from[int(r)*k:])
	}
}

// StoreRows implements [tensor.Device].
func (d *Device) StoreRows(dst, src, rows tensor.Tensor) {
	if d.fail(tensor.CheckStoreRows(dst, src, rows)) {
		return
	}
	out, in, at := d.output("StoreRows", dst), d.input("StoreRows", src), d.input("StoreRows", rows)
	if d.err != nil || d.fail(tensor.CheckIndices("StoreRows", intsOf(at), dst.Shape[0])) || len(in) == 0 {
		return
	}
	to := floatsOf(out)
	from, k := apart(to, floatsOf(in)), len(to)/dst.Shape[0]
	for i, r := range intsOf(at) {
		copy(to[int(r)*k:][:k], from[i*k:])
	}
}
