package tinytasks

import (
	"hash/fnv"
	"math/rand/v2"
)

// Split is a share of all compositions. Each composition is in exactly one.
type Split string

// The splits.
const (
	SFT     Split = "sft"     // for supervised training
	RL      Split = "rl"      // for reinforcement
	HeldOut Split = "heldout" // for measuring, never trained on
)

// deep is the depth from which on compositions are kept from SFT: what a model
// can do there it generalised to, or learnt by reinforcement.
const deep = 4

// splitOf hashes a composition into its split. Whether a task is functional
// does not count: the same clauses in another dress are no new composition.
func splitOf(r Recipe) Split {
	h := fnv.New32a()
	h.Write([]byte(r.Composition()))
	// FNV's low bits depend on the last bytes too directly; Knuth's multiplier
	// spreads them.
	part := (h.Sum32() * 2654435761) >> 16 % 10
	switch {
	case part < 6 && r.Depth() >= deep:
		return RL
	case part < 6:
		return SFT
	case part < 8 && r.Depth() < deep:
		return RL
	default:
		return HeldOut
	}
}

// depths are how often each split has tasks of depth 0, 1, 2, …, in parts.
var depths = map[Split][]int{
	SFT:     {0, 3, 4, 3},
	RL:      {0, 0, 1, 3, 5, 3, 2},
	HeldOut: {0, 1, 3, 4, 5, 3, 2},
}

func drawDepth(rng *rand.Rand, s Split) int {
	total := 0
	for _, part := range depths[s] {
		total += part
	}
	at := rng.IntN(total)
	depth := 0
	for at -= depths[s][0]; at >= 0; at -= depths[s][depth] {
		depth++
	}
	return depth
}
