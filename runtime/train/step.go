package train

import (
	"fmt"
	"math"

	"github.com/coderl/cr/runtime/tensor"
)

// Step clips the accumulated gradients to the options' global norm, updates the
// trained weights by AdamW with the learning rate lr, and clears the gradients.
// Where the norm is not finite, it changes no weight and says so.
func (t *Trainer) Step(lr float64) (Update, error) {
	if t.options.Frozen {
		return Update{}, errFrozen
	}
	norm, err := t.gradNorm()
	if err != nil {
		return Update{}, err
	}
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		t.zeroGradients()
		return Update{GradNorm: norm, Skipped: true}, t.dev.Sync()
	}
	t.updates++
	s := t.adamW(lr)
	// torch.nn.utils.clip_grad_norm_ adds the 1e-6.
	if clip := t.options.ClipNorm; clip > 0 {
		s.GradScale = float32(min(1, clip/(norm+1e-6)))
	}
	for _, p := range t.parameters {
		t.dev.AdamW(p.master, p.grad, p.mean, p.square, s)
		p.refresh(t.dev)
	}
	t.zeroGradients()
	return Update{GradNorm: norm}, t.dev.Sync()
}

func (t *Trainer) adamW(lr float64) tensor.AdamWStep {
	o := t.options.AdamW
	if o.Eps == 0 {
		o.Beta1, o.Beta2, o.Eps = 0.9, 0.999, 1e-8
	}
	return tensor.AdamWStep{
		LR: lr, WeightDecay: o.WeightDecay, Step: t.updates, GradScale: 1,
		Beta1: o.Beta1, Beta2: o.Beta2, Eps: o.Eps,
	}
}

// gradNorm is the global norm of the gradients.
func (t *Trainer) gradNorm() (float64, error) {
	for i, p := range t.parameters {
		t.dev.SumSquares(t.squares.Rows(i, i+1), p.grad)
	}
	squares := make([]float32, len(t.parameters))
	if err := t.dev.Read(squares, t.squares); err != nil {
		return 0, fmt.Errorf("gradient norm: %w", err)
	}
	sum := 0.0
	for _, s := range squares {
		sum += float64(s)
	}
	return math.Sqrt(sum), nil
}

func (t *Trainer) zeroGradients() {
	for _, p := range t.parameters {
		t.dev.Zero(p.grad)
	}
}
