package train

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/coderl/cr/runtime/cpu"
	"github.com/coderl/cr/runtime/tensor"
)

// Weights of more than one stretch are saved and read whole: trained, frozen,
// merged, and the state.
func TestSavesMoreThanAStretch(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"model_type": "llama", "hidden_size": 103,
		"num_hidden_layers": 1, "num_attention_heads": 1, "head_dim": 2, "intermediate_size": 2600, "vocab_size": 2601}`), 0o600))
	scratch := openCase(t, cpu.New(1), dir, Options{Scratch: true, Seed: 3})
	folder := t.TempDir()
	check(t, scratch.Save(folder))
	again := openCase(t, cpu.New(1), folder, Options{Seed: 4})
	restored := openCase(t, cpu.New(1), dir, Options{Scratch: true, Seed: 5})
	check(t, restored.Restore(folder))
	for i, p := range scratch.parameters {
		want := read(t, scratch, p.master)
		for _, other := range []*Trainer{again, restored} {
			if !slices.Equal(read(t, other, other.parameters[i].master), want) {
				t.Errorf("%s is not what was saved", p.name)
			}
		}
	}

	// B is zero: what is merged is what was there, in the type that is asked for.
	lora := openCaseWithoutAdapters(t, folder, Options{Save: "bf16", LoRA: &LoRA{Rank: 2, Alpha: 2, Targets: []string{"up_proj"}}})
	merged := t.TempDir()
	check(t, lora.SaveModel(t.Context(), merged))
	weights := openTensors(t, filepath.Join(merged, "model.safetensors"))
	for _, p := range scratch.parameters {
		want := read(t, scratch, p.master)
		got := wantTensor(t, weights, p.name)
		if h, err := weights.Tensor(p.name); err != nil || h.DType != tensor.BF16 {
			t.Errorf("%s is saved as %s (%v)", p.name, h.DType, err)
		}
		for i := range want {
			if d := got[i] - want[i]; d > 2e-3 || d < -2e-3 {
				t.Fatalf("%s: value %d is %v, want %v", p.name, i, got[i], want[i])
			}
		}
	}
}

// openCaseWithoutAdapters opens a model with adapters as they begin.
func openCaseWithoutAdapters(t *testing.T, dir string, o Options) *Trainer {
	t.Helper()
	trainer, err := OpenOn(t.Context(), cpu.New(1), dir, o)
	check(t, err)
	t.Cleanup(func() { check(t, trainer.Close()) })
	return trainer
}
