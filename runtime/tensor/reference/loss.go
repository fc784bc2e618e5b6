package reference

import (
	"math"

	"github.com/coderl/cr/runtime/tensor"
)

// LogProbs computes, for each row of logits [len(targets), vocab], lse =
// log Σ exp(logits/t), logp = logits[target]/t − lse and, unless it is nil,
// entropy = lse − Σ p·logits/t.
func LogProbs(logp, lse, entropy, logits []float32, targets []int32, temperature float32) {
	vocab := len(logits) / max(1, len(targets))
	t := float64(temperature)
	for i, target := range targets {
		row := logits[i*vocab:][:vocab]
		top := math.Inf(-1)
		for _, v := range row {
			top = max(top, float64(v)/t)
		}
		total, mean := 0.0, 0.0
		for _, v := range row {
			p := math.Exp(float64(v)/t - top)
			total += p
			mean += p * (float64(v)/t - top)
		}
		norm := math.Log(total)
		lse[i] = float32(top + norm)
		logp[i] = float32(float64(row[target])/t - top - norm)
		if entropy != nil {
			entropy[i] = float32(norm - mean/total)
		}
	}
}

// LogProbsGrad overwrites logits with the gradient of Σ dlogp·logp +
// dentropy·entropy; dentropy and entropy may both be nil.
func LogProbsGrad(logits, lse, entropy []float32, targets []int32, dlogp, dentropy []float32, temperature float32) {
	vocab := len(logits) / max(1, len(targets))
	t := float64(temperature)
	for i, target := range targets {
		row := logits[i*vocab:][:vocab]
		for j, v := range row {
			z := float64(v)/t - float64(lse[i])
			p := math.Exp(z)
			g := -float64(dlogp[i]) * p
			if j == int(target) {
				g += float64(dlogp[i])
			}
			if dentropy != nil {
				g -= float64(dentropy[i]) * p * (z + float64(entropy[i]))
			}
			row[j] = float32(g / t)
		}
	}
}

// SumSquares returns Σ src².
func SumSquares(src []float32) float64 {
	return dot64(src, src)
}

// AdamW is one update of param and its moments m and v, as
// [tensor.AdamWStep] says.
func AdamW(param, grad, m, v []float32, s tensor.AdamWStep) {
	step := s.LR / (1 - math.Pow(s.Beta1, float64(s.Step)))
	root := math.Sqrt(1 - math.Pow(s.Beta2, float64(s.Step)))
	for i := range param {
		g := float64(s.GradScale) * float64(grad[i])
		first := s.Beta1*float64(m[i]) + (1-s.Beta1)*g
		second := s.Beta2*float64(v[i]) + (1-s.Beta2)*g*g
		p := float64(param[i]) * (1 - s.LR*s.WeightDecay)
		param[i] = float32(p - step*first/(math.Sqrt(second)/root+s.Eps))
		m[i], v[i] = float32(first), float32(second)
	}
}
