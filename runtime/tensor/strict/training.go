package strict

import (
	"fmt"
	"slices"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

var _ tensor.TrainingDevice = (*Device)(nil)

// update queues an operation of the backward pass: all of dst are written, and
// none may share an element with any other operand.
func (d *Device) update(op string, shape error, dst, in []tensor.Tensor, run func(dst, in []view) error) {
	if shape != nil {
		d.put(nil, shape)
		return
	}
	var errs []error
	views := make([]view, 0, len(dst)+len(in))
	for i, t := range slices.Concat(dst, in) {
		v, err := d.view(op, t)
		if i < len(dst) {
			v, err = d.written(op, t)
		}
		errs = append(errs, err)
		for j, other := range views[:min(i, len(dst))] {
			if err == nil && meet(v, other) {
				errs = append(errs, fmt.Errorf("%s: %v and %v: %w", op, dst[j].Shape, t.Shape, ErrOverlap))
			}
		}
		views = append(views, v)
	}
	d.put(func() error { return run(views[:len(dst)], views[len(dst):]) }, errs...)
}

// Zero implements [tensor.TrainingDevice].
func (d *Device) Zero(dst tensor.Tensor) {
	defer d.enter()()
	d.call("Zero", tensor.CheckZero(dst), func(out view, _ []view) error {
		clear(out.floats)
		clear(out.ints)
		clear(out.bytes)
		return nil
	}, dst)
}

// Convert implements [tensor.TrainingDevice].
func (d *Device) Convert(dst, src tensor.Tensor) {
	defer d.enter()()
	d.call("Convert", tensor.CheckConvert(dst, src), func(out view, in []view) error {
		values := make([]float32, src.Len())
		reference.Decode(values, src.DType, in[0].stored())
		if dst.DType == tensor.F32 {
			copy(out.floats, values)
			return nil
		}
		reference.Encode(out.bytes, dst.DType, values)
		return nil
	}, dst, src)
}

// AddScaled implements [tensor.TrainingDevice].
func (d *Device) AddScaled(dst, src tensor.Tensor, scale float32) {
	defer d.enter()()
	d.call("AddScaled", tensor.CheckAddScaled(dst, src), func(out view, in []view) error {
		reference.AddScaled(out.floats, in[0].floats, scale)
		return nil
	}, dst, src)
}

// AddRows implements [tensor.TrainingDevice].
func (d *Device) AddRows(dst, src, rows tensor.Tensor) {
	defer d.enter()()
	d.update("AddRows", tensor.CheckAddRows(dst, src, rows), []tensor.Tensor{dst}, []tensor.Tensor{src, rows},
		func(out, in []view) error {
			at := in[1].ints
			if err := tensor.CheckIndices("AddRows", at, dst.Shape[0]); err != nil || len(at) == 0 {
				return err
			}
			k := len(in[0].floats) / len(at)
			reference.AddRows(out[0].floats, in[0].floats, at, k, 0, k)
			return nil
		})
}

// SumRows implements [tensor.TrainingDevice].
func (d *Device) SumRows(dst, src tensor.Tensor) {
	defer d.enter()()
	d.update("SumRows", tensor.CheckSumRows(dst, src), []tensor.Tensor{dst}, []tensor.Tensor{src},
		func(out, in []view) error {
			reference.SumRows(out[0].floats, in[0].floats, 0, len(out[0].floats))
			return nil
		})
}

// MatMulGradX implements [tensor.TrainingDevice].
func (d *Device) MatMulGradX(dx, dy, w tensor.Tensor) {
	defer d.enter()()
	d.update("MatMulGradX", tensor.CheckMatMulGradX(dx, dy, w), []tensor.Tensor{dx}, []tensor.Tensor{dy, w},
		func(out, in []view) error {
			reference.MatMulGradX(out[0].floats, in[0].floats, in[1].stored(), w.DType, w.Shape[0], w.Shape[1], 0, dx.Shape[0])
			return nil
		})
}

// MatMulGradW implements [tensor.TrainingDevice].
func (d *Device) MatMulGradW(dw, dy, x tensor.Tensor) {
	defer d.enter()()
	d.update("MatMulGradW", tensor.CheckMatMulGradW(dw, dy, x), []tensor.Tensor{dw}, []tensor.Tensor{dy, x},
		func(out, in []view) error {
			n, k := dw.Shape[0], dw.Shape[1]
			reference.MatMulGradW(out[0].floats, in[0].floats, in[1].floats, x.Shape[0], n, k, 0, n)
			return nil
		})
}

// RMSNormGrad implements [tensor.TrainingDevice].
func (d *Device) RMSNormGrad(dx, dweight, dy, x, weight tensor.Tensor, eps float32) {
	defer d.enter()()
	dst := []tensor.Tensor{dx}
	if dweight.Mem != nil {
		dst = append(dst, dweight)
	}
	d.update("RMSNormGrad", tensor.CheckRMSNormGrad(dx, dweight, dy, x, weight), dst, []tensor.Tensor{dy, x, weight},
		func(out, in []view) error {
			if len(in[1].floats) > 0 {
				reference.RMSNormGrad(out[0].floats, optional(out, 1), in[0].floats, in[1].floats, in[2].floats, eps)
			}
			return nil
		})
}

// optional returns the values of an operand that may have been left out at the
// end of views.
func optional(views []view, i int) []float32 {
	if i < len(views) {
		return views[i].floats
	}
	return nil
}

// SiLUMulGrad implements [tensor.TrainingDevice].
func (d *Device) SiLUMulGrad(dgate, dup, dy, gate, up tensor.Tensor) {
	defer d.enter()()
	d.update("SiLUMulGrad", tensor.CheckSiLUMulGrad(dgate, dup, dy, gate, up),
		[]tensor.Tensor{dgate, dup}, []tensor.Tensor{dy, gate, up},
		func(out, in []view) error {
			reference.SiLUMulGrad(out[0].floats, out[1].floats, in[0].floats, in[1].floats, in[2].floats)
			return nil
		})
}

// PackedAttention implements [tensor.TrainingDevice].
func (d *Device) PackedAttention(dst, lse, q, k, v tensor.Tensor, b tensor.PackedBatch) {
	defer d.enter()()
	b.Starts = slices.Clone(b.Starts)
	d.update("PackedAttention", tensor.CheckPackedAttention(dst, lse, q, k, v, b),
		[]tensor.Tensor{dst, lse}, []tensor.Tensor{q, k, v},
		func(out, in []view) error {
			eachSegment(b, q, k, func(h reference.Heads, s reference.Segment, kv int) {
				reference.PackedAttention(out[0].floats, out[1].floats, in[0].floats, in[1].floats, in[2].floats, h, s, s.Start, s.End, kv)
			})
			return nil
		})
}

// PackedAttentionGrad implements [tensor.TrainingDevice].
func (d *Device) PackedAttentionGrad(dq, dk, dv, dy, out, lse, q, k, v tensor.Tensor, b tensor.PackedBatch) {
	defer d.enter()()
	b.Starts = slices.Clone(b.Starts)
	d.update("PackedAttentionGrad", tensor.CheckPackedAttentionGrad(dq, dk, dv, dy, out, lse, q, k, v, b),
		[]tensor.Tensor{dq, dk, dv}, []tensor.Tensor{dy, q, k, v, out, lse},
		func(to, in []view) error {
			a := reference.AttentionGrad{
				DQ: to[0].floats, DK: to[1].floats, DV: to[2].floats,
				DY: in[0].floats, Q: in[1].floats, K: in[2].floats, V: in[3].floats,
			}
			eachSegment(b, q, k, func(h reference.Heads, s reference.Segment, kv int) {
				reference.PackedAttentionGrad(a, h, s, kv)
			})
			return nil
		})
}

// eachSegment calls do for each kv head of each segment.
func eachSegment(b tensor.PackedBatch, q, k tensor.Tensor, do func(h reference.Heads, s reference.Segment, kvHead int)) {
	h := reference.Heads{Query: q.Shape[1], KV: k.Shape[1], Dim: q.Shape[2]}
	for i, end := range b.Starts[1:] {
		for kv := range h.KV {
			do(h, reference.Segment{Start: int(b.Starts[i]), End: int(end), Scale: b.Scale}, kv)
		}
	}
}

// LogProbs implements [tensor.TrainingDevice].
func (d *Device) LogProbs(logp, lse, entropy, logits, targets tensor.Tensor, temperature float32) {
	defer d.enter()()
	dst := []tensor.Tensor{logp, lse}
	if entropy.Mem != nil {
		dst = append(dst, entropy)
	}
	d.update("LogProbs", tensor.CheckLogProbs(logp, lse, entropy, logits, targets, temperature),
		dst, []tensor.Tensor{logits, targets},
		func(out, in []view) error {
			if err := tensor.CheckIndices("LogProbs", in[1].ints, logits.Shape[1]); err != nil {
				return err
			}
			reference.LogProbs(out[0].floats, out[1].floats, optional(out, 2), in[0].floats, in[1].ints, temperature)
			return nil
		})
}

// LogProbsGrad implements [tensor.TrainingDevice].
func (d *Device) LogProbsGrad(logits, lse, entropy, targets, dlogp, dentropy tensor.Tensor, temperature float32) {
	defer d.enter()()
	in := []tensor.Tensor{lse, targets, dlogp}
	if dentropy.Mem != nil {
		in = append(in, entropy, dentropy)
	}
	d.update("LogProbsGrad", tensor.CheckLogProbsGrad(logits, lse, entropy, targets, dlogp, dentropy, temperature),
		[]tensor.Tensor{logits}, in,
		func(out, in []view) error {
			if err := tensor.CheckIndices("LogProbsGrad", in[1].ints, logits.Shape[1]); err != nil {
				return err
			}
			reference.LogProbsGrad(out[0].floats, in[0].floats, optional(in, 3), in[1].ints, in[2].floats, optional(in, 4), temperature)
			return nil
		})
}

// SumSquares implements [tensor.TrainingDevice].
func (d *Device) SumSquares(dst, src tensor.Tensor) {
	defer d.enter()()
	d.update("SumSquares", tensor.CheckSumSquares(dst, src), []tensor.Tensor{dst}, []tensor.Tensor{src},
		func(out, in []view) error {
			out[0].floats[0] = float32(reference.SumSquares(in[0].floats))
			return nil
		})
}

// AdamW implements [tensor.TrainingDevice].
func (d *Device) AdamW(param, grad, m, v tensor.Tensor, s tensor.AdamWStep) {
	defer d.enter()()
	d.update("AdamW", tensor.CheckAdamW(param, grad, m, v, s), []tensor.Tensor{param, m, v}, []tensor.Tensor{grad},
		func(out, in []view) error {
			reference.AdamW(out[0].floats, in[0].floats, out[1].floats, out[2].floats, s)
			return nil
		})
}
