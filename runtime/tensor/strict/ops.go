package strict

import (
	"fmt"
	"slices"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

// call queues one operation: its shapes are checked, then its memory. dst is
// written and may be the same view as an input, but not overlap one otherwise.
func (d *Device) call(op string, shape error, run func(dst view, in []view) error, dst tensor.Tensor, in ...tensor.Tensor) {
	if shape != nil {
		d.put(nil, shape)
		return
	}
	out, err := d.written(op, dst)
	errs, views := []error{err}, make([]view, len(in))
	for i, t := range in {
		views[i], err = d.view(op, t)
		errs = append(errs, err)
		if err == nil && overlap(out, views[i]) {
			errs = append(errs, fmt.Errorf("%s: %v and %v: %w", op, dst.Shape, t.Shape, ErrOverlap))
		}
	}
	d.put(func() error { return run(out, views) }, errs...)
}

// Embed implements [tensor.Device].
func (d *Device) Embed(dst, table, ids tensor.Tensor) {
	defer d.enter()()
	d.call("Embed", tensor.CheckEmbed(dst, table, ids), func(out view, in []view) error {
		if err := tensor.CheckIndices("Embed", in[1].ints, table.Shape[0]); err != nil {
			return err
		}
		k, stored := table.Shape[1], in[0].stored()
		stride := table.DType.Bytes(k)
		for i, id := range in[1].ints {
			reference.Decode(out.floats[i*k:][:k], table.DType, stored[int(id)*stride:][:stride])
		}
		return nil
	}, dst, table, ids)
}

// RMSNorm implements [tensor.Device].
func (d *Device) RMSNorm(dst, x, weight tensor.Tensor, eps float32) {
	defer d.enter()()
	d.call("RMSNorm", tensor.CheckRMSNorm(dst, x, weight), func(out view, in []view) error {
		if len(out.floats) > 0 {
			reference.RMSNorm(out.floats, in[0].floats, in[1].floats, eps)
		}
		return nil
	}, dst, x, weight)
}

// MatMul implements [tensor.Device].
func (d *Device) MatMul(dst, x, w tensor.Tensor) {
	defer d.enter()()
	d.call("MatMul", tensor.CheckMatMul(dst, x, w), func(out view, in []view) error {
		m, n, k := x.Shape[0], w.Shape[0], x.Shape[1]
		reference.MatMul(out.floats, slices.Clone(in[0].floats), in[1].stored(), w.DType, m, n, k, 0, n)
		return nil
	}, dst, x, w)
}

// Add implements [tensor.Device].
func (d *Device) Add(dst, a, b tensor.Tensor) {
	defer d.enter()()
	d.call("Add", tensor.CheckAdd(dst, a, b), func(out view, in []view) error {
		if len(out.floats) > 0 {
			reference.Add(out.floats, in[0].floats, in[1].floats)
		}
		return nil
	}, dst, a, b)
}

// SiLUMul implements [tensor.Device].
func (d *Device) SiLUMul(dst, gate, up tensor.Tensor) {
	defer d.enter()()
	d.call("SiLUMul", tensor.CheckSiLUMul(dst, gate, up), func(out view, in []view) error {
		reference.SiLUMul(out.floats, in[0].floats, in[1].floats)
		return nil
	}, dst, gate, up)
}

// RoPE implements [tensor.Device].
func (d *Device) RoPE(x, positions, invFreq tensor.Tensor, scale float32) {
	defer d.enter()()
	d.call("RoPE", tensor.CheckRoPE(x, positions, invFreq), func(out view, in []view) error {
		n := len(in[0].ints) * len(in[1].floats)
		if n == 0 {
			return nil
		}
		cos, sin := make([]float32, n), make([]float32, n)
		reference.RoPETable(cos, sin, in[0].ints, in[1].floats, scale)
		reference.RoPE(out.floats, cos, sin, x.Shape[1], len(in[1].floats))
		return nil
	}, x, positions, invFreq)
}

// CopyRows implements [tensor.Device].
func (d *Device) CopyRows(dst, src, rows tensor.Tensor) {
	defer d.enter()()
	d.call("CopyRows", tensor.CheckCopyRows(dst, src, rows), func(out view, in []view) error {
		from, at := slices.Clone(in[0].floats), in[1].ints
		if err := tensor.CheckIndices("CopyRows", at, src.Shape[0]); err != nil || len(at) == 0 {
			return err
		}
		k := len(out.floats) / len(at)
		for i, r := range at {
			copy(out.floats[i*k:][:k], from[int(r)*k:])
		}
		return nil
	}, dst, src, rows)
}

// StoreRows implements [tensor.Device].
func (d *Device) StoreRows(dst, src, rows tensor.Tensor) {
	defer d.enter()()
	d.call("StoreRows", tensor.CheckStoreRows(dst, src, rows), func(out view, in []view) error {
		from, at := slices.Clone(in[0].floats), in[1].ints
		if err := tensor.CheckIndices("StoreRows", at, dst.Shape[0]); err != nil || len(at) == 0 {
			return err
		}
		k := len(from) / len(at)
		for i, r := range at {
			copy(out.floats[int(r)*k:][:k], from[i*k:])
		}
		return nil
	}, dst, src, rows)
}

// Attention implements [tensor.Device].
func (d *Device) Attention(dst, q tensor.Tensor, kv tensor.KV, b tensor.AttentionBatch) {
	defer d.enter()()
	own := tensor.AttentionBatch{Seq: slices.Clone(b.Seq), Pos: slices.Clone(b.Pos), Scale: b.Scale}
	for _, list := range b.Pages {
		own.Pages = append(own.Pages, slices.Clone(list))
	}
	d.call("Attention", tensor.CheckAttention(dst, q, kv, own), func(out view, in []view) error {
		heads := reference.Heads{Query: q.Shape[1], KV: kv.K.Shape[1], Dim: q.Shape[2]}
		from := slices.Clone(in[0].floats)
		for i := range own.Pos {
			for h := range heads.KV {
				reference.Attention(out.floats, from, in[1].floats, in[2].floats, heads, own, i, h)
			}
		}
		return nil
	}, dst, q, kv.K, kv.V)
}
