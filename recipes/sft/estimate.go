package sft

import (
	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/runtime/model"
)

// FLOPs estimates the floating-point operations of a plan from its first step to
// its last: two a weight and token forward, four backward, of which adapters
// save half; two more where activations are computed again; attention likewise,
// by its length; and the output projection for the tokens that enter the loss
// alone. parameters counts all weights of the model. What is element by element
// is left out: it is little.
func (p Plan) FLOPs(c model.Config, r preset.SFT, parameters int64) float64 {
	forward, backward := 1.0, 2.0
	if r.Model.LoRA.Rank > 0 {
		backward = 1
	}
	if r.Model.Checkpointing {
		backward++
	}
	validations := 1.0
	if every := r.Train.ValidateEvery; every > 0 {
		validations = max(1, float64(p.Last/every))
	}
	epochs := float64(p.Last) * float64(p.order.BatchSize) / float64(p.Examples)
	return (forward+backward)*epochs*p.training.forward(c, parameters) + validations*p.validation.forward(c, parameters)
}

// volume is how much there is of a data set.
type volume struct {
	tokens, targets int64
	squares         float64 // of the lengths
	longest         int
}

func measure(all []examples.Example) volume {
	var v volume
	for i := range all {
		n := len(all[i].IDs)
		v.tokens += int64(n)
		v.targets += int64(all[i].Targets())
		v.squares += float64(n) * float64(n)
		v.longest = max(v.longest, n)
	}
	return v
}

// forward is the operations of one pass over the data.
func (v volume) forward(c model.Config, parameters int64) float64 {
	head := float64(c.Vocab) * float64(c.Hidden)
	body := float64(parameters) - head
	if !c.TieEmbeddings {
		body -= head // the embedding is looked up
	}
	// A token of a causal segment sees half of it on the mean; scores and their
	// use take two operations each.
	attention := 2 * v.squares * float64(c.Layers*c.Heads*c.HeadDim)
	return 2*body*float64(v.tokens) + 2*head*float64(v.targets) + attention
}
