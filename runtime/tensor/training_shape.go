package tensor

import (
	"fmt"
	"slices"
)

// absent reports whether t is an operand that was left out.
func (t Tensor) absent() bool { return t.Mem == nil }

// Float reports whether d is a type of floating-point numbers stored one by one.
func (d DType) Float() bool { return d == F32 || d == F16 || d == BF16 }

func oneShape(ts ...Tensor) rule {
	differs := slices.ContainsFunc(ts, func(t Tensor) bool { return !slices.Equal(t.Shape, ts[0].Shape) })
	return rule{!differs, "operands have one shape"}
}

// CheckZero reports an operand that does not fit [TrainingDevice.Zero].
func CheckZero(dst Tensor) error {
	return check("Zero", []operand{{"dst", dst}}, rule{dst.DType == I32 || isWeight(dst).ok, "dst is whole blocks"})
}

// CheckConvert reports operands that do not fit [TrainingDevice.Convert].
func CheckConvert(dst, src Tensor) error {
	return check("Convert", []operand{{"dst", dst}, {"src", src}},
		rule{dst.DType.Float() && src.DType.Float(), "operands are F32, F16 or BF16"}, oneShape(dst, src))
}

// CheckAddScaled reports operands that do not fit [TrainingDevice.AddScaled].
func CheckAddScaled(dst, src Tensor) error {
	return check("AddScaled", []operand{{"dst", dst}, {"src", src}}, isF32(dst, src), oneShape(dst, src))
}

// CheckAddRows reports operands that do not fit [TrainingDevice.AddRows].
func CheckAddRows(dst, src, rows Tensor) error {
	return check("AddRows", []operand{{"dst", dst}, {"src", src}, {"rows", rows}},
		isF32(dst, src), isI32(rows),
		rule{dst.rowLen() == src.rowLen(), "dst and src have rows of one length"},
		rule{src.dim(0) == rows.dim(0), "src has one row for each index"})
}

// CheckSumRows reports operands that do not fit [TrainingDevice.SumRows].
func CheckSumRows(dst, src Tensor) error {
	return check("SumRows", []operand{{"dst", dst}, {"src", src}},
		isF32(dst, src), ranks(1, dst),
		rule{src.dim(-1) == dst.dim(0), "dst has the last dimension of src"})
}

// CheckMatMulGradX reports operands that do not fit [TrainingDevice.MatMulGradX].
func CheckMatMulGradX(dx, dy, w Tensor) error {
	return check("MatMulGradX", []operand{{"dx", dx}, {"dy", dy}, {"w", w}},
		isF32(dx, dy), ranks(2, dx, dy, w), isWeight(w),
		rule{dx.dim(0) == dy.dim(0), "dx has the rows of dy"},
		rule{dy.dim(1) == w.dim(0), "dy has a column for each row of w"},
		rule{dx.dim(1) == w.dim(1), "dx and w have rows of one length"})
}

// CheckMatMulGradW reports operands that do not fit [TrainingDevice.MatMulGradW].
func CheckMatMulGradW(dw, dy, x Tensor) error {
	return check("MatMulGradW", []operand{{"dw", dw}, {"dy", dy}, {"x", x}},
		isF32(dw, dy, x), ranks(2, dw, dy, x),
		rule{dy.dim(0) == x.dim(0), "dy has the rows of x"},
		rule{dy.dim(1) == dw.dim(0), "dy has a column for each row of dw"},
		rule{dw.dim(1) == x.dim(1), "dw and x have rows of one length"})
}

// CheckRMSNormGrad reports operands that do not fit [TrainingDevice.RMSNormGrad].
func CheckRMSNormGrad(dx, dweight, dy, x, weight Tensor) error {
	return check("RMSNormGrad",
		[]operand{{"dx", dx}, {"dweight", dweight}, {"dy", dy}, {"x", x}, {"weight", weight}},
		isF32(dx, dweight, dy, x, weight), ranks(1, weight), oneShape(dx, dy, x),
		rule{x.dim(-1) == weight.dim(0), "weight has the last dimension of x"},
		rule{dweight.absent() || slices.Equal(dweight.Shape, weight.Shape), "dweight has the shape of weight or no memory"})
}

// CheckSiLUMulGrad reports operands that do not fit [TrainingDevice.SiLUMulGrad].
func CheckSiLUMulGrad(dgate, dup, dy, gate, up Tensor) error {
	return check("SiLUMulGrad",
		[]operand{{"dgate", dgate}, {"dup", dup}, {"dy", dy}, {"gate", gate}, {"up", up}},
		isF32(dgate, dup, dy, gate, up), oneShape(dgate, dup, dy, gate, up))
}

// CheckPackedAttention reports operands that do not fit
// [TrainingDevice.PackedAttention], the list of segments among them.
func CheckPackedAttention(dst, lse, q, k, v Tensor, b PackedBatch) error {
	operands := []operand{{"dst", dst}, {"lse", lse}, {"q", q}, {"k", k}, {"v", v}}
	if err := check("PackedAttention", operands, packed(dst, lse, q, k, v)...); err != nil {
		return err
	}
	return b.check("PackedAttention", q.Shape[0], operands)
}

// CheckPackedAttentionGrad reports operands that do not fit
// [TrainingDevice.PackedAttentionGrad], the list of segments among them.
func CheckPackedAttentionGrad(dq, dk, dv, dy, out, lse, q, k, v Tensor, b PackedBatch) error {
	operands := []operand{
		{"dq", dq}, {"dk", dk}, {"dv", dv}, {"dy", dy}, {"out", out}, {"lse", lse}, {"q", q}, {"k", k}, {"v", v},
	}
	rules := append(packed(out, lse, q, k, v), isF32(dq, dk, dv, dy),
		rule{slices.Equal(dq.Shape, q.Shape) && slices.Equal(dy.Shape, q.Shape), "dq, dy and q have one shape"},
		rule{slices.Equal(dk.Shape, k.Shape) && slices.Equal(dv.Shape, k.Shape), "dk, dv and k have one shape"})
	if err := check("PackedAttentionGrad", operands, rules...); err != nil {
		return err
	}
	return b.check("PackedAttentionGrad", q.Shape[0], operands)
}

// packed are the rules that the attention of a packed batch has both ways.
func packed(dst, lse, q, k, v Tensor) []rule {
	return []rule{
		isF32(dst, lse, q, k, v), ranks(3, dst, q, k, v), ranks(2, lse),
		{slices.Equal(dst.Shape, q.Shape), "the result and q have one shape"},
		{slices.Equal(k.Shape, v.Shape), "k and v have one shape"},
		{q.dim(0) == k.dim(0), "q and k have one number of rows"},
		{q.dim(2) == k.dim(2), "q and k have one head length"},
		{k.dim(1) > 0 && q.dim(1)%max(1, k.dim(1)) == 0, "query heads are a multiple of key heads"},
		{lse.dim(0) == q.dim(0) && lse.dim(1) == q.dim(1), "lse has one value for each query head"},
	}
}

// check reports a list of starts that does not cut n rows into segments.
func (b PackedBatch) check(op string, n int, operands []operand) error {
	last := len(b.Starts) - 1
	switch {
	case last < 0 || b.Starts[0] != 0:
		return newShapeError(op, "the first segment does not start at row 0", operands)
	case int(b.Starts[last]) != n:
		return newShapeError(op, fmt.Sprintf("the last segment ends at row %d of %d", b.Starts[last], n), operands)
	}
	for i, end := range b.Starts[1:] {
		if end < b.Starts[i] {
			return newShapeError(op, fmt.Sprintf("segment %d ends at row %d before it starts", i, end), operands)
		}
	}
	return nil
}

// CheckLogProbs reports operands that do not fit [TrainingDevice.LogProbs].
func CheckLogProbs(logp, lse, entropy, logits, targets Tensor, temperature float32) error {
	operands := []operand{{"logp", logp}, {"lse", lse}, {"entropy", entropy}, {"logits", logits}, {"targets", targets}}
	return check("LogProbs", operands, perRow(logits, targets, temperature, logp, lse, entropy)...)
}

// CheckLogProbsGrad reports operands that do not fit
// [TrainingDevice.LogProbsGrad].
func CheckLogProbsGrad(logits, lse, entropy, targets, dlogp, dentropy Tensor, temperature float32) error {
	operands := []operand{
		{"logits", logits}, {"lse", lse}, {"entropy", entropy}, {"targets", targets}, {"dlogp", dlogp}, {"dentropy", dentropy},
	}
	rules := append(perRow(logits, targets, temperature, dlogp, lse, entropy), perRow(logits, targets, temperature, dlogp, lse, dentropy)...)
	return check("LogProbsGrad", operands,
		append(rules, rule{dentropy.absent() || !entropy.absent(), "dentropy needs the entropy"})...)
}

// perRow are the rules of logits [n, vocab] with two values a row, and a third
// that may be absent.
func perRow(logits, targets Tensor, temperature float32, a, b, optional Tensor) []rule {
	n := logits.dim(0)
	return []rule{
		isF32(logits, a, b, optional), isI32(targets), ranks(2, logits), ranks(1, a, b),
		{targets.dim(0) == n && a.dim(0) == n && b.dim(0) == n, "there is one target and one value for each row of logits"},
		{optional.absent() || len(optional.Shape) == 1 && optional.dim(0) == n, "the entropy has one value for each row of logits or no memory"},
		{temperature > 0, "the temperature is above zero"},
	}
}

// CheckSumSquares reports operands that do not fit [TrainingDevice.SumSquares].
func CheckSumSquares(dst, src Tensor) error {
	return check("SumSquares", []operand{{"dst", dst}, {"src", src}},
		isF32(dst, src), rule{slices.Equal(dst.Shape, []int{1}), "dst is one value"})
}

// CheckAdamW reports operands that do not fit [TrainingDevice.AdamW].
func CheckAdamW(param, grad, m, v Tensor, s AdamWStep) error {
	return check("AdamW", []operand{{"param", param}, {"grad", grad}, {"m", m}, {"v", v}},
		isF32(param, grad, m, v), oneShape(param, grad, m, v),
		rule{s.Step >= 1, "steps count from 1"},
		rule{0 <= s.Beta1 && s.Beta1 < 1 && 0 <= s.Beta2 && s.Beta2 < 1, "beta1 and beta2 lie in [0, 1)"})
}
