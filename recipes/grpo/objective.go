package grpo

import (
	"math"
	"strings"

	"github.com/coderl/cr/recipes/preset"
)

// What verl clamps for the exponential's sake: the logarithm of a ratio, and the
// low-variance estimate of the divergence.
const (
	logRatioBound = 20
	lowVarBound   = 10
)

// Objective is what one token contributes to the loss: PPO's clipped surrogate
// with a dual clip (arXiv 1912.09729), KLCoef times the divergence from the
// reference model, and minus Entropy times the prediction's entropy.
type Objective struct {
	ClipLow, ClipHigh float64 // the ratio is clipped to [1 − ClipLow, 1 + ClipHigh]
	DualClip          float64 // bounds the loss of a negative advantage A by −A·DualClip
	KLCoef            float64
	// KLType is the estimator of the divergence: kl, abs, mse, low_var_kl (which
	// verl also knows as k1, k2 and k3). With + behind it, its gradient is mse's.
	KLType  string
	Entropy float64
}

// NewObjective takes a recipe's.
func NewObjective(r preset.GRPO) Objective {
	return Objective{
		ClipLow: r.ClipLow, ClipHigh: r.ClipHigh, DualClip: r.DualClip,
		KLCoef: r.KLCoef, KLType: r.KLType, Entropy: r.Entropy,
	}
}

// Token is one sampled token under the models: log-probabilities under the
// policy now, as it sampled, and under the reference, and the policy's entropy.
type Token struct {
	LogP, Old, Reference, Entropy float64
	Advantage                     float64
}

// Term is a token's part of the loss with its derivatives.
type Term struct {
	Loss              float64 // PG + KLCoef·KL − Entropy·H
	PG, KL            float64
	DLogP, DEntropy   float64 // of Loss
	NegativeLogRatio  float64 // verl's ppo_kl
	Clipped, DualClip bool    // the clipped surrogate, or the dual clip, decided
}

// At computes the term of a token.
func (o Objective) At(t Token) Term {
	var term Term
	var dpg, dkl float64
	o.surrogate(t, &term, &dpg)
	if o.KLCoef != 0 {
		term.KL, dkl = divergence(o.KLType, t.LogP, t.Reference)
	}
	term.Loss = term.PG + o.KLCoef*term.KL - o.Entropy*t.Entropy
	term.DLogP = dpg + o.KLCoef*dkl
	term.DEntropy = -o.Entropy
	return term
}

// surrogate computes L = max(−A·r, −A·clip(r)) with r = exp(logp − old), and
// min(−A·DualClip, L) where A < 0. Derivatives are torch's, at ties too: there
// each side of a maximum or minimum gets half.
func (o Objective) surrogate(t Token, term *Term, d *float64) {
	logRatio, slope := clamp(t.LogP-t.Old, -logRatioBound, logRatioBound)
	ratio := math.Exp(logRatio)
	clipped, inside := clamp(ratio, 1-o.ClipLow, 1+o.ClipHigh)
	free, bound := -t.Advantage*ratio, -t.Advantage*clipped
	freeSlope := -t.Advantage * ratio * slope
	term.NegativeLogRatio = -logRatio
	term.Clipped = bound > free
	term.PG, *d = pick(free, freeSlope, bound, freeSlope*inside, bound > free)
	if t.Advantage < 0 {
		limit := -t.Advantage * o.DualClip
		term.DualClip = term.PG > limit
		term.PG, *d = pick(term.PG, *d, limit, 0, limit < term.PG)
	}
}

// pick takes the second of two values with their slopes where it wins, and
// shares the slope of equal ones.
func pick(a, da, b, db float64, second bool) (value, slope float64) {
	switch {
	case a == b:
		return a, (da + db) / 2
	case second:
		return b, db
	}
	return a, da
}

// clamp bounds x and tells the slope of that: 1 within, 0 beyond.
func clamp(x, low, high float64) (y, slope float64) {
	switch {
	case x < low:
		return low, 0
	case x > high:
		return high, 0
	}
	return x, 1
}

// divergence estimates KL(policy ‖ reference) from one sampled token, with the
// derivative by logp (Schulman, http://joschu.net/blog/kl-approx.html).
func divergence(kind string, logp, reference float64) (kl, slope float64) {
	base, straight := strings.CutSuffix(kind, "+")
	diff := logp - reference
	switch base {
	case "kl", "k1":
		kl, slope = diff, 1
	case "abs":
		kl, slope = math.Abs(diff), sign(diff)
	case "mse", "k2":
		kl, slope = diff*diff/2, diff
	default: // low_var_kl, k3
		kl, slope = lowVariance(diff)
	}
	if straight {
		slope = diff
	}
	return kl, slope
}

// lowVariance is e^d − d − 1 with d = reference − logp = −diff, both clamped.
func lowVariance(diff float64) (kl, slope float64) {
	d, inner := clamp(-diff, -logRatioBound, logRatioBound)
	kl, outer := clamp(math.Exp(d)-d-1, -lowVarBound, lowVarBound)
	return kl, -(math.Exp(d) - 1) * inner * outer
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}
