package sampling

import "math"

// faintest is the logit, below the highest, from which on e^x counts as 0: it
// could not change a float64 sum that holds e^0.
const faintest = -100

// exp is eˣ for faintest ≤ x ≤ 0, within 10⁻⁸ relative: a Taylor polynomial of
// 2ᶠ on |f| ≤ ½, moved by the exponent bits. A row of logits takes a hundred
// thousand of them: this one is inlined, and math.Exp's last bits are too dear.
func exp(x float64) float64 {
	// Adding 1.5·2⁵² rounds to an integer, which is then in the low bits.
	const shift = 3 << 51
	whole := x*math.Log2E + shift
	f := (x*math.Log2E - (whole - shift)) * math.Ln2
	p := 1 + f*(1+f*(1./2+f*(1./6+f*(1./24+f*(1./120+f*(1./720+f*(1./5040)))))))
	return math.Float64frombits(math.Float64bits(p) + math.Float64bits(whole)<<52)
}

// sumExp is Σ e^((l - highest)·inverse), in four interleaved sums: one alone
// would wait for each addition.
func sumExp(logits []float32, highest float32, inverse float64) float64 {
	var sums [4]float64
	for i, l := range logits {
		if x := float64(l-highest) * inverse; x >= faintest {
			sums[i%4] += exp(x)
		}
	}
	return (sums[0] + sums[1]) + (sums[2] + sums[3])
}
