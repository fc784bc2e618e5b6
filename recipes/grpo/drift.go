package grpo

import "math"

// drift is how far the sampler's log-probabilities lie from the trainer's.
type drift struct {
	mean, max, kl, k3         float64 // of |Δ log p|; estimates of KL(sampler ‖ trainer)
	probMean, probMax, probSD float64 // of |Δ p|
	pearson                   float64 // of the two probabilities
	tokens                    int     // compared
}

// driftOf is the drift over all sampled tokens; NaN where there are none.
func driftOf(all []*sample) drift {
	var d drift
	n := 0.0
	var sumA, sumB, sumAA, sumBB, sumAB, sumPP float64
	for _, s := range all {
		for i, old := range s.old {
			diff := float64(s.sampler[i]) - float64(old)
			a, b := math.Exp(float64(s.sampler[i])), math.Exp(float64(old))
			n++
			d.mean += math.Abs(diff)
			d.max = max(d.max, math.Abs(diff))
			d.kl += diff
			d.k3 += math.Exp(-diff) + diff - 1
			p := math.Abs(a - b)
			d.probMean += p
			sumPP += p * p
			d.probMax = max(d.probMax, p)
			sumA, sumB, sumAA, sumBB, sumAB = sumA+a, sumB+b, sumAA+a*a, sumBB+b*b, sumAB+a*b
		}
	}
	if n == 0 {
		none := math.NaN()
		return drift{mean: none, max: none, kl: none, k3: none, probMean: none, probMax: none, probSD: none, pearson: none}
	}
	d.tokens = int(n)
	for _, v := range []*float64{&d.mean, &d.kl, &d.k3, &d.probMean} {
		*v /= n
	}
	d.probSD = math.Sqrt(max(0, sumPP/n-d.probMean*d.probMean) * n / max(1, n-1))
	d.pearson = (sumAB - sumA*sumB/n) / math.Sqrt((sumAA-sumA*sumA/n)*(sumBB-sumB*sumB/n))
	return d
}
