package model

import (
	"fmt"
	"math"
)

// InvFreq returns the rotary inverse frequencies [headDim/2] of a config and
// the factor on sine and cosine. Values are rounded to float32 where
// transformers rounds (modeling_rope_utils.py): at position 10⁴ a last-bit
// difference of a frequency is already a visible angle.
func InvFreq(c Config) (freq []float32, scale float32, err error) {
	freq = make([]float32, c.HeadDim/2)
	for i := range freq {
		exponent := float32(2*i) / float32(c.HeadDim)
		freq[i] = 1 / float32(math.Pow(c.RopeTheta, float64(exponent)))
	}
	if c.RopeScaling == nil {
		return freq, 1, nil
	}
	s := *c.RopeScaling
	if s.Type == "divisors" {
		return divided(freq, s.Divisors)
	}
	if s.Factor <= 0 {
		return nil, 0, fmt.Errorf("config: rope scaling %q: factor %v is not positive", s.Type, s.Factor)
	}
	switch s.Type {
	case "linear":
		for i := range freq {
			freq[i] /= float32(s.Factor)
		}
		return freq, 1, nil
	case "llama3":
		llama3(freq, s)
		return freq, 1, nil
	case "yarn":
		return freq, yarn(freq, c), nil
	}
	return nil, 0, fmt.Errorf("config: rope scaling %q is not supported (linear, llama3, yarn)", s.Type)
}

// divided applies a scaling that the checkpoint stores worked out.
func divided(freq, divisors []float32) ([]float32, float32, error) {
	if len(divisors) != len(freq) {
		return nil, 0, fmt.Errorf("config: %d rope divisors for %d frequencies", len(divisors), len(freq))
	}
	for i, d := range divisors {
		freq[i] /= d
	}
	return freq, 1, nil
}

// llama3 divides the frequencies of long wavelengths by the factor, keeps the
// short ones, and blends between (Llama 3.1).
func llama3(freq []float32, s RopeScaling) {
	context := float32(s.OriginalContext)
	low, high := float32(s.LowFreqFactor), float32(s.HighFreqFactor)
	factor := float32(s.Factor)
	for i, f := range freq {
		wavelength := float32(2*math.Pi) / f
		switch {
		case wavelength < context/high:
		case wavelength > context/low:
			freq[i] = f / factor
		default:
			smooth := (context/wavelength - low) / (high - low)
			freq[i] = (1-smooth)*f/factor + smooth*f
		}
	}
}

// yarn blends interpolated and original frequencies by a linear ramp over the
// dimensions, and returns the attention factor (arXiv 2309.00071).
func yarn(freq []float32, c Config) float32 {
	s := *c.RopeScaling
	fast, slow := s.BetaFast, s.BetaSlow
	if fast == 0 {
		fast = 32
	}
	if slow == 0 {
		slow = 1
	}
	low := max(math.Floor(yarnDim(fast, c)), 0)
	high := min(math.Ceil(yarnDim(slow, c)), float64(c.HeadDim-1))
	if low == high {
		high += 0.001
	}
	for i, f := range freq {
		ramp := min(max((float32(i)-float32(low))/float32(high-low), 0), 1)
		keep := 1 - ramp
		interpolated := 1 / (float32(s.Factor) * (1 / f))
		freq[i] = interpolated*(1-keep) + f*keep
	}
	switch {
	case s.AttentionFactor != 0:
		return float32(s.AttentionFactor)
	case s.Factor <= 1:
		return 1
	}
	return float32(0.1*math.Log(s.Factor) + 1)
}

// yarnDim is the dimension that turns the given number of times within the
// original context.
func yarnDim(turns float64, c Config) float64 {
	context := float64(c.RopeScaling.OriginalContext)
	return float64(c.HeadDim) * math.Log(context/(turns*2*math.Pi)) / (2 * math.Log(c.RopeTheta))
}
