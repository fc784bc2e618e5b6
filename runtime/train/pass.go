package train

import (
	"context"
	"slices"

	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/autograd"
)

// logitsBytes bounds the logits that exist at one time.
const logitsBytes = 64 << 20

// chunkRows is how many rows of logits are computed at a time.
func chunkRows(vocab, rows int) int {
	return max(1, min(rows, logitsBytes/(4*vocab)))
}

// Backward runs a batch forward and backward: the gradients of loss add to those
// of the calls before, until [Trainer.Step]. Logits are divided by temperature
// (1 for a plain loss). After an error the gradients are lost.
func (t *Trainer) Backward(ctx context.Context, b Batch, temperature float32, loss Loss) error {
	if t.options.Frozen {
		return errFrozen
	}
	err := t.backward(ctx, b, temperature, loss)
	if err != nil {
		t.zeroGradients()
	}
	return err
}

func (t *Trainer) backward(ctx context.Context, b Batch, temperature float32, loss Loss) error {
	tape := autograd.NewTape(t.pool)
	defer tape.Release()
	h, on, err := t.hidden(ctx, tape, b, true)
	defer on.free()
	if err != nil {
		return err
	}
	c := t.newChunks(tape, len(b.Rows), temperature)
	if err := c.run(ctx, h, on.targets, func(lo, hi int) { c.differentiate(h, on.targets, lo, hi, loss) }); err != nil {
		return err
	}
	c.free()
	if err := tape.Backward(); err != nil {
		return err
	}
	return t.dev.Sync()
}

// LogProbs runs a batch forward and returns, for each of its Rows, the target's
// log-probability and the entropy of the prediction, at the temperature.
func (t *Trainer) LogProbs(ctx context.Context, b Batch, temperature float32) (logp, entropy []float32, err error) {
	return t.logProbs(ctx, b, temperature, true)
}

// ReferenceLogProbs is LogProbs of the model without its adapters: of the
// weights that LoRA began from.
func (t *Trainer) ReferenceLogProbs(ctx context.Context, b Batch, temperature float32) (logp, entropy []float32, err error) {
	return t.logProbs(ctx, b, temperature, false)
}

func (t *Trainer) logProbs(ctx context.Context, b Batch, temperature float32, adapters bool) (logp, entropy []float32, err error) {
	tape := autograd.NewForward(t.pool)
	defer tape.Release()
	h, on, err := t.hidden(ctx, tape, b, adapters)
	defer on.free()
	if err != nil {
		return nil, nil, err
	}
	c := t.newChunks(tape, len(b.Rows), temperature)
	err = c.run(ctx, h, on.targets, func(lo, hi int) {
		logp, entropy = append(logp, c.logp[:hi-lo]...), append(entropy, c.entropy[:hi-lo]...)
	})
	return logp, entropy, err
}

// hidden runs the graph up to the last hidden states of the batch's Rows,
// [len(Rows), hidden].
func (t *Trainer) hidden(ctx context.Context, tape *autograd.Tape, b Batch, adapters bool) (*autograd.Value, indices, error) {
	if err := b.check(t.config.Context, t.config.Vocab); err != nil {
		return nil, indices{}, err
	}
	t.pool.NextPass()
	on, err := t.upload(b)
	if err != nil {
		return nil, on, err
	}
	g := t.newGraph(ctx, tape, b, on)
	if !adapters {
		g.adapterScale = 0
	}
	h := model.Run(g, t.config, t.decoder)
	return tape.CopyRows(h, on.rows), on, tape.Err()
}

// chunks computes logits and what follows from them for some rows at a time.
type chunks struct {
	t                              *Trainer
	tape                           *autograd.Tape
	rows                           int // of one chunk
	temperature                    float32
	values                         []*autograd.Value
	logits, logps, lse, entropies  tensor.Tensor
	dlogps, dentropies             tensor.Tensor
	logp, entropy, dlogp, dentropy []float32 // the host's copies
}

func (t *Trainer) newChunks(tape *autograd.Tape, rows int, temperature float32) *chunks {
	c := &chunks{t: t, tape: tape, rows: chunkRows(t.config.Vocab, rows), temperature: temperature}
	c.logits = c.alloc(c.rows, t.config.Vocab)
	for _, v := range []*tensor.Tensor{&c.logps, &c.lse, &c.entropies, &c.dlogps, &c.dentropies} {
		*v = c.alloc(c.rows)
	}
	for _, v := range []*[]float32{&c.logp, &c.entropy, &c.dlogp, &c.dentropy} {
		*v = make([]float32, c.rows)
	}
	return c
}

func (c *chunks) alloc(shape ...int) tensor.Tensor {
	v := c.tape.New(shape...)
	c.values = append(c.values, v)
	return v.Data()
}

// free gives the memory back before the backward pass needs its own.
func (c *chunks) free() {
	for _, v := range c.values {
		c.tape.Free(v)
	}
}

// run computes each chunk's log-probabilities and entropies, and hands them on.
func (c *chunks) run(ctx context.Context, h *autograd.Value, targets tensor.Tensor, each func(lo, hi int)) error {
	dev, head := c.t.dev, c.t.decoder.Head.leaf
	n := h.Data().Shape[0]
	for lo := 0; lo < n; lo += c.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.tape.Err(); err != nil {
			return err
		}
		hi := min(lo+c.rows, n)
		logits, logp, entropy := c.logits.Rows(0, hi-lo), c.logps.Rows(0, hi-lo), c.entropies.Rows(0, hi-lo)
		dev.MatMul(logits, h.Data().Rows(lo, hi), head.Data())
		dev.LogProbs(logp, c.lse.Rows(0, hi-lo), entropy, logits, targets.Rows(lo, hi), c.temperature)
		if err := dev.Read(c.logp[:hi-lo], logp); err != nil {
			return err
		}
		if err := dev.Read(c.entropy[:hi-lo], entropy); err != nil {
			return err
		}
		each(lo, hi)
	}
	return c.tape.Err()
}

// differentiate asks the loss for its gradients and takes them through the head.
func (c *chunks) differentiate(h *autograd.Value, targets tensor.Tensor, lo, hi int, loss Loss) {
	dev, head, n := c.t.dev, c.t.decoder.Head.leaf, hi-lo
	dlogp, dentropy := c.dlogp[:n], c.dentropy[:n]
	clear(dlogp)
	clear(dentropy)
	loss(lo, hi, c.logp[:n], c.entropy[:n], dlogp, dentropy)
	logits, dlogps := c.logits.Rows(0, n), c.dlogps.Rows(0, n)
	dev.Write(dlogps, dlogp)
	var entropies, dentropies tensor.Tensor
	if slices.ContainsFunc(dentropy, func(d float32) bool { return d != 0 }) {
		entropies, dentropies = c.entropies.Rows(0, n), c.dentropies.Rows(0, n)
		dev.Write(dentropies, dentropy)
	}
	dev.LogProbsGrad(logits, c.lse.Rows(0, n), entropies, targets.Rows(lo, hi), dlogps, dentropies, c.temperature)
	if head.Trained() {
		dev.MatMulGradW(c.tape.Grad(head), logits, h.Data().Rows(lo, hi))
	}
	if dh := c.tape.Grad(h); dh.Mem != nil {
		dev.MatMulGradX(dh.Rows(lo, hi), logits, head.Data())
	}
}
