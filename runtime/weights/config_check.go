package weights

import (
	"fmt"
	"math"

	"github.com/coderl/cr/runtime/model"
)

// Limits far above any real model: a configuration beyond them is damaged, and
// believing it would only end in absurd allocations.
const (
	layersLimit = 4096
	widthLimit  = 1 << 24
)

// checkConfig verifies that the numbers make a decoder. Whether the tensors
// agree with them is for the model's loader to check, see [CheckShape].
func checkConfig(c model.Config) error {
	sizes := []struct {
		name         string
		value, limit int
	}{
		{"hidden size", c.Hidden, widthLimit},
		{"number of layers", c.Layers, layersLimit},
		{"number of heads", c.Heads, widthLimit},
		{"number of key/value heads", c.KVHeads, widthLimit},
		{"head size", c.HeadDim, widthLimit},
		{"feed-forward size", c.FFN, widthLimit},
		{"vocabulary size", c.Vocab, widthLimit},
		{"context length", c.Context, math.MaxInt32},
	}
	for _, s := range sizes {
		if s.value < 1 || s.value > s.limit {
			return fmt.Errorf("%s is %d, expected 1 to %d", s.name, s.value, s.limit)
		}
	}
	switch {
	case c.Heads%c.KVHeads != 0:
		return fmt.Errorf("%d heads cannot share %d key/value heads evenly", c.Heads, c.KVHeads)
	case c.HeadDim%2 != 0:
		return fmt.Errorf("head size %d is odd, which RoPE cannot rotate", c.HeadDim)
	case !(c.NormEps >= 0 && c.NormEps < 1):
		return fmt.Errorf("norm epsilon is %v, expected 0 to 1", c.NormEps)
	case !(c.RopeTheta > 1) || math.IsInf(c.RopeTheta, 0):
		return fmt.Errorf("rope theta is %v, expected more than 1", c.RopeTheta)
	}
	for _, id := range c.EOS {
		if id < 0 {
			return fmt.Errorf("end-of-sequence id is %d", id)
		}
	}
	return checkScaling(c)
}

func checkScaling(c model.Config) error {
	s := c.RopeScaling
	switch {
	case s == nil:
		return nil
	case s.Type == "divisors" && len(s.Divisors) != c.HeadDim/2:
		return fmt.Errorf("%d rope divisors for a head size of %d", len(s.Divisors), c.HeadDim)
	case s.Type == "divisors":
		return nil
	case !(s.Factor > 0) || math.IsInf(s.Factor, 0):
		return fmt.Errorf("rope scaling %s: factor is %v, expected more than 0", s.Type, s.Factor)
	case s.Type == "llama3" && !(s.LowFreqFactor > 0 && s.HighFreqFactor > s.LowFreqFactor):
		return fmt.Errorf("rope scaling llama3: frequency factors are %v and %v", s.LowFreqFactor, s.HighFreqFactor)
	case s.Type == "yarn" && !(s.BetaSlow > 0 && s.BetaFast > 0 && s.AttentionFactor > 0):
		return fmt.Errorf("rope scaling yarn: betas %v and %v, attention factor %v, expected more than 0",
			s.BetaFast, s.BetaSlow, s.AttentionFactor)
	case s.Type != "linear" && s.OriginalContext < 1:
		return fmt.Errorf("rope scaling %s: original context is %d", s.Type, s.OriginalContext)
	}
	return nil
}
