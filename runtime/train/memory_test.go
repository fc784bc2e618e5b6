package train

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/coderl/cr/runtime/cpu"
	"github.com/coderl/cr/runtime/tensor"
)

// The plan is an upper bound of what a step takes, and not far above it.
func TestMemoryPlan(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"model_type": "qwen3", "hidden_size": 64,
		"num_hidden_layers": 6, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
		"intermediate_size": 160, "vocab_size": 300, "tie_word_embeddings": true}`), 0o600))
	for _, o := range []Options{
		{Scratch: true}, {Scratch: true, Checkpointing: true}, {Scratch: true, DType: tensor.BF16},
	} {
		trainer, err := OpenOn(t.Context(), cpu.New(2), dir, o)
		check(t, err)
		defer trainer.Close()
		b := benchBatch(512, 128, 300)
		loss := func(_, _ int, _, _, dlogp, _ []float32) { dlogp[0] = -1 }
		check(t, trainer.Backward(t.Context(), b, 1, loss))
		plan, err := PlanMemory(trainer.Config(), o, 0, len(b.IDs))
		check(t, err)
		if plan.Parameters != int64(trainer.Parameters()) {
			t.Errorf("%d parameters planned, there are %d", plan.Parameters, trainer.Parameters())
		}
		var weights, gradients, moments int64
		for _, p := range trainer.parameters {
			n := int64(p.master.Len())
			weights, gradients, moments = weights+4*n, gradients+4*n, moments+8*n
			if p.compute.DType != tensor.F32 {
				weights += int64(p.compute.DType.Bytes(p.compute.Len()))
			}
		}
		if plan.Weights != weights || plan.Gradients != gradients || plan.Moments != moments {
			t.Errorf("plan %+v, have weights %d, gradients %d, moments %d", plan, weights, gradients, moments)
		}
		planned, peak := plan.Activations+plan.Logits, trainer.pool.Peak()
		// Sizes are rounded up by at most a sixteenth.
		if peak > planned*17/16 || peak < planned*6/10 {
			t.Errorf("%+v: %d bytes planned, the peak was %d", o, planned, peak)
		}
		const held = 5 << 20
		plan = plan.WithProcess(held)
		if err := plan.Fits(plan.Total() - held); err != nil {
			t.Error(err)
		}
		if err := plan.Fits(plan.Total() - held - 1); !errors.Is(err, ErrMemory) {
			t.Errorf("a run that does not fit: %v", err)
		}
	}
}
