package tensor

// TrainingDevice is a [Device] that can also train: it adds the operations of a
// decoder's backward pass, the packed attention that needs no cache, the loss,
// and the optimiser.
//
// An operation named Grad adds to its gradient destinations (first arguments),
// so that a value with two readers needs no extra sum; [TrainingDevice.Zero]
// clears them. dy is the gradient of the forward operation's dst. Gradients are
// F32. Unless said otherwise a destination shares no element with another
// operand. A result depends on the inputs alone, never on the number of threads
// or on timing.
//
// The gradient of RoPE is RoPE by the negated invFreq, for it is a rotation (and
// scale times one).
type TrainingDevice interface {
	Device

	// Zero: dst = 0.
	Zero(dst Tensor)
	// Convert: dst = src in dst's type, rounded to nearest even; dst F32, F16
	// or BF16, src F32, F16 or BF16, one shape. Of one type, dst may be src.
	Convert(dst, src Tensor)
	// AddScaled: dst += scale·src, elementwise; dst may be src.
	AddScaled(dst, src Tensor, scale float32)
	// AddRows: dst[rows[i]] += src[i], in the order of i (the gradient of Embed
	// and CopyRows); rows I32 [n], repeats allowed.
	AddRows(dst, src, rows Tensor)
	// SumRows: dst[d] += Σ_i src[i,d] (the gradient of a bias).
	SumRows(dst, src Tensor)

	// MatMulGradX: dx[m,k] += Σ_n dy[m,n]·w[n,k]; w of any weight type.
	MatMulGradX(dx, dy, w Tensor)
	// MatMulGradW: dw[n,k] += Σ_m dy[m,n]·x[m,k]; dw F32.
	MatMulGradW(dw, dy, x Tensor)
	// RMSNormGrad, with r = 1/sqrt(mean(x²)+eps) of a row of d elements and
	// g = dy·weight: dx += r·(g − x·r²·Σ(g·x)/d); dweight += Σ_rows dy·x·r.
	// dweight may have no memory: the weight is then frozen.
	RMSNormGrad(dx, dweight, dy, x, weight Tensor, eps float32)
	// SiLUMulGrad, with s = sigmoid(gate): dgate += dy·up·s·(1+gate·(1−s));
	// dup += dy·gate·s.
	SiLUMulGrad(dgate, dup, dy, gate, up Tensor)

	// PackedAttention is causal attention inside each segment of a packed
	// batch: dst, q [n, heads, headDim], k, v [n, kvHeads, headDim]; lse
	// [n, heads] receives log Σ exp of each row's scaled scores.
	PackedAttention(dst, lse, q, k, v Tensor, b PackedBatch)
	// PackedAttentionGrad adds the gradients of PackedAttention to dq, dk and
	// dv, given its result out and lse.
	PackedAttentionGrad(dq, dk, dv, dy, out, lse, q, k, v Tensor, b PackedBatch)

	// LogProbs: for each row of logits [n, vocab], lse = log Σ exp(logits/t),
	// logp = logits[targets]/t − lse, entropy = lse − Σ p·logits/t, with t the
	// temperature. targets I32 [n]; logp, lse [n]; entropy [n], or without
	// memory where it is not wanted.
	LogProbs(logp, lse, entropy, logits, targets Tensor, temperature float32)
	// LogProbsGrad overwrites logits with the gradient of
	// Σ dlogp·logp + dentropy·entropy: per row, with p = exp(logits/t − lse),
	// (dlogp·(1[target] − p) − dentropy·p·(logits/t − lse + entropy)) / t.
	// dentropy and entropy may both be without memory.
	LogProbsGrad(logits, lse, entropy, targets, dlogp, dentropy Tensor, temperature float32)

	// SumSquares: dst[0] = Σ src², dst [1].
	SumSquares(dst, src Tensor)
	// AdamW is one update of param with gradient grad and moments m, v (all of
	// one shape, F32).
	AdamW(param, grad, m, v Tensor, s AdamWStep)
}

// PackedBatch says where the segments of a packed batch begin. Segment i is the
// rows [Starts[i], Starts[i+1]); the last entry is the number of rows. The list
// is host data: a device copies what it needs before the operation returns.
type PackedBatch struct {
	Starts []int32
	Scale  float32 // of the scores, 1/√headDim
}

// AdamWStep is one update of AdamW with decoupled weight decay (Loshchilov and
// Hutter, arXiv 1711.05101), as torch.optim.AdamW computes it: with
// g = GradScale·grad, p −= LR·WeightDecay·p; m = β1·m + (1−β1)·g;
// v = β2·v + (1−β2)·g²; p −= LR/(1−β1^Step) · m / (sqrt(v)/sqrt(1−β2^Step) + Eps).
type AdamWStep struct {
	LR, Beta1, Beta2, Eps, WeightDecay float64
	Step                               int     // 1 for the first update
	GradScale                          float32 // clipping and averaging, applied on the way
}
