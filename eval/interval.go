package eval

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Estimate is a mean over problems with its uncertainty. A problem is one
// cluster: its samples share their difficulty, so they count as one observation.
type Estimate struct {
	Value float64 `json:"value"`
	// Stderr is the standard error of the mean over problems,
	// sqrt(Σ(x−mean)² / (m(m−1))); null for a single problem.
	Stderr *float64 `json:"stderr"`
	// Low and High bound the 95 % interval, see [bootstrap].
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// resamples of the bootstrap: the ends of an interval move by about 1 % of its
// width from one seed to another.
const resamples = 10_000

// reportConfidence is the confidence of the intervals in results.json.
const reportConfidence = 0.95

// estimate summarises one value a problem.
func estimate(values []float64) Estimate {
	low, high := bootstrap(values, reportConfidence)
	return Estimate{Value: mean(values), Stderr: standardError(values), Low: low, High: high}
}

func mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// standardError is the standard error of the mean, nil below two values.
func standardError(values []float64) *float64 {
	m := float64(len(values))
	if m < 2 {
		return nil
	}
	center, squares := mean(values), 0.0
	for _, v := range values {
		squares += (v - center) * (v - center)
	}
	se := math.Sqrt(squares / (m * (m - 1)))
	return &se
}

// bootstrap is the percentile interval of the mean over problems drawn with
// replacement, from a fixed seed, for values within [0, 1].
//
// Where all m problems agree on v, resampling sees no spread although there may
// be some: then, with the given confidence, a share below 1 − (α/2)^(1/m) of all
// problems behaves otherwise (the exact binomial bound for none in m), and the
// interval is what that share could make of the mean.
func bootstrap(values []float64, confidence float64) (low, high float64) {
	tail := (1 - confidence) / 2
	if len(values) == 0 {
		return 0, 1
	}
	if v := values[0]; allEqual(values) {
		same := math.Pow(tail, 1/float64(len(values)))
		return v * same, 1 - (1-v)*same
	}
	return resampledInterval(values, tail)
}

func allEqual(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v != values[0] })
}

// resampledInterval returns the tail and 1−tail quantiles of resampled means.
func resampledInterval(values []float64, tail float64) (low, high float64) {
	// Sorted, so that the order of problems does not choose the draws.
	values = slices.Sorted(slices.Values(values))
	rng := rand.New(rand.NewPCG(0x6372206576616c, 1))
	means := make([]float64, resamples)
	m := len(values)
	for r := range means {
		sum := 0.0
		for range m {
			sum += values[rng.IntN(m)]
		}
		means[r] = sum / float64(m)
	}
	slices.Sort(means)
	return quantile(means, tail), quantile(means, 1-tail)
}

// quantile interpolates between the two nearest of sorted values (Hyndman and
// Fan's type 7, numpy's default).
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-2)
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// normalQuantile is the inverse of the standard normal distribution function.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
