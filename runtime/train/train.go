// Package train trains the models that package model serves, with the same
// graphs: full fine-tuning and LoRA, on any [tensor.TrainingDevice].
//
// A training step is some calls of [Trainer.Backward], one a packed
// micro-batch, whose gradients add up, and one [Trainer.Step]. The loss is the
// caller's: a function of the log-probabilities of the wanted tokens. Logits
// exist for a chunk of rows at a time, never for all. On one device the same
// calls give the same bits, whatever its threads.
package train

import (
	"errors"

	"github.com/coderl/cr/runtime/tensor"
)

// Options are how a model is trained. The zero value is full fine-tuning in F32
// with AdamW as torch has it, without clipping.
type Options struct {
	Threads int // of the cpu device; 0: one a core
	// DType is the type of the weights in matrix products, F32 or BF16. The
	// trained weights themselves and everything else are F32 either way.
	DType tensor.DType
	// LoRA, where given, trains low-rank adapters and leaves the model's weights
	// as the file stores them, quantised ones too.
	LoRA *LoRA
	// Checkpointing keeps only the input of each block for the backward pass,
	// which computes the rest again: much less memory for a third more work.
	Checkpointing bool
	AdamW         AdamW
	ClipNorm      float64  // bound of the gradients' global norm; 0: none
	Save          SaveType // of weights in saved models
	Frozen        bool     // no weight is trained: for LogProbs alone
	// Scratch begins from random weights: the folder needs config.json only.
	Scratch bool
	Seed    uint64 // of random weights: those of Scratch and of LoRA's A
}

// SaveType is the element type of saved weights. The zero value keeps that of
// the model that was opened, F32 for a .gguf; "f32" and "bf16"
// are the others.
type SaveType string

// dtype returns the type that is asked for, if one is.
func (s SaveType) dtype() (d tensor.DType, given bool) {
	if s == "bf16" {
		return tensor.BF16, true
	}
	return tensor.F32, s == "f32"
}

// LoRA says which matrices get adapters: y = W·x + (Alpha/Rank)·B·A·x (Hu et
// al., arXiv 2106.09685).
type LoRA struct {
	Rank    int      `json:"rank"`
	Alpha   float64  `json:"alpha"`
	Targets []string `json:"targets"` // of q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj
}

// AdamW holds the optimiser's constants. Where Eps is zero, betas and epsilon are
// torch's 0.9, 0.999 and 1e-8; else a beta of zero is one. The decay falls on every trained parameter, norms and
// biases too, as torch.optim.AdamW(model.parameters()) has it.
type AdamW struct {
	Beta1, Beta2, Eps, WeightDecay float64
}

// Batch is one packed micro-batch: several sequences, one after another.
type Batch struct {
	IDs, Positions []int32 // positions restart with each segment
	Starts         []int32 // where segments begin; the last entry is len(IDs)
	Rows           []int32 // rows whose next-token log-probability enters the loss, ascending
	Targets        []int32 // the token that each of Rows must predict
}

// Loss is the caller's loss, as its gradient. It gets the chunk [lo,hi) of a
// batch's Rows with the log-probabilities of the targets and the entropies of
// the predictions, both at the batch's temperature, and fills the gradients of
// the loss by them. All four have hi−lo entries, the last two zero.
type Loss func(lo, hi int, logp, entropy, dlogp, dentropy []float32)

// Update is what one step did.
type Update struct {
	GradNorm float64 // global norm of the accumulated gradients, before clipping
	Skipped  bool    // the norm was not finite: no weight changed
}

// errFrozen is training asked of a model that was opened without.
var errFrozen = errors.New("train: the model was opened frozen")

// ErrMemory is a run that would not fit the memory of its device.
var ErrMemory = errors.New("train: not enough memory")
