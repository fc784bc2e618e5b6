package train

import (
	"fmt"

	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
)

// Memory is what a training run takes of its device, in bytes by part.
type Memory struct {
	Weights     int64 `json:"weights"`     // as operations read them, and masters in F32
	Gradients   int64 `json:"gradients"`   // in F32
	Moments     int64 `json:"moments"`     // AdamW's two, in F32
	Activations int64 `json:"activations"` // of the largest micro-batch, with its gradients
	Logits      int64 `json:"logits"`      // of one chunk of rows
	Process     int64 `json:"process"`     // the process itself: program, tokenizer, examples, garbage
	Parameters  int64 `json:"parameters"`  // trained values, no bytes

	held int64 // of Process, before the run
}

// Total is the sum in bytes.
func (m Memory) Total() int64 {
	return m.Weights + m.Gradients + m.Moments + m.Activations + m.Logits + m.Process
}

// WithProcess adds the process itself, which holds so many bytes before the model
// is opened. It comes to twice that: the collector lets garbage, such as that of
// writing a tokenizer, grow to what is alive. Measured, it lies below: 97 MB for
// 73 held with the tiny model, 194 for 103 with SmolLM2's 49152 tokens.
func (m Memory) WithProcess(held int64) Memory {
	m.Process, m.held = 2*held, held
	return m
}

// More is what a run takes beside what its process holds already.
func (m Memory) More() int64 { return m.Total() - m.held }

// Fits returns [ErrMemory], with what to do, where the run takes more than free
// bytes beside what the process holds already.
func (m Memory) Fits(free int64) error {
	if m.More() <= free {
		return nil
	}
	const mib = 1 << 20
	return fmt.Errorf("%w: %d MiB are needed (weights %d, gradients %d, moments %d, activations %d, logits %d, the process itself %d), %d are free: "+
		"take smaller micro-batches, checkpointing, or LoRA", ErrMemory, m.More()/mib, m.Weights/mib, m.Gradients/mib,
		m.Moments/mib, m.Activations/mib, m.Logits/mib, (m.Process-m.held)/mib, free/mib)
}

// PlanMemory predicts what training a model takes with micro-batches of up to
// tokens tokens. storedBytes is the size of the checkpoint's weights, which LoRA
// uses as they are stored (they may lie in the page cache, and count all the
// same). [Memory.WithProcess] adds the process itself.
func PlanMemory(c model.Config, o Options, storedBytes int64, tokens int) (Memory, error) {
	shapes := shapesOf{}
	if _, err := model.NewDecoder[[]int](c, shapes); err != nil {
		return Memory{}, err
	}
	m := Memory{Logits: 4 * int64(chunkRows(c.Vocab, tokens)) * int64(c.Vocab)}
	for name, shape := range shapes {
		m.add(o, name, shape)
	}
	if o.LoRA != nil || o.Frozen {
		m.Weights += storedBytes
	}
	m.Activations = 4 * int64(tokens) * activations(c, o)
	return m, nil
}

// add counts one weight of the model.
func (m *Memory) add(o Options, name string, shape []int) {
	trained, matrix := int64(tensor.Tensor{Shape: shape}.Len()), len(shape) > 1
	switch {
	case o.Frozen || o.LoRA != nil && !o.LoRA.targets(name):
		return
	case o.LoRA != nil:
		trained = int64(o.LoRA.Rank) * int64(shape[0]+shape[1])
	}
	m.Parameters += trained
	m.Weights += 4 * trained
	if o.DType == tensor.BF16 && matrix {
		m.Weights += 2 * trained
	}
	m.Gradients += 4 * trained
	m.Moments += 8 * trained
}

// activations is how many F32 values a token keeps at the peak: those of every
// block, or with checkpointing each block's input and the values of the one at
// work; then the ends of the graph, and the gradients on the way back.
func activations(c model.Config, o Options) int64 {
	block := blockValues(c, o.LoRA)
	kept := int64(c.Layers) * block
	if o.Checkpointing || o.Frozen {
		kept = int64(c.Layers)*int64(c.Hidden) + block
	}
	// The embedding, the last norm, its wanted rows and their gradient.
	ends := 4 * int64(c.Hidden)
	feedForward := 3*c.FFN + 3*c.Hidden
	attention := 2*(c.Heads+2*c.KVHeads)*c.HeadDim + 3*c.Hidden
	return kept + ends + int64(max(feedForward, attention))
}

// blockValues is how many values of a token one block keeps for its backward
// pass: two norms and two sums; queries, keys and values, where heads are normed
// both before and after; attention's result and log-sums; and the feed-forward's
// gates and their product.
func blockValues(c model.Config, lora *LoRA) int64 {
	queries, keys := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	n := 4*c.Hidden + 2*queries + 2*keys + c.Heads + 3*c.FFN
	if c.Arch == model.Qwen3 {
		n += queries + keys
	}
	if lora != nil {
		n += lora.Rank * len(lora.Targets)
	}
	return int64(n)
}
