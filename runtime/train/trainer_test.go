package train

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coderl/cr/runtime/cpu"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/strict"
	"github.com/coderl/cr/runtime/weights"
)

// steps trains a case for some steps.
func steps(t *testing.T, trainer *Trainer, c oracleCase, n int) {
	t.Helper()
	for range n {
		for _, b := range c.Batches {
			check(t, trainer.Backward(t.Context(), b.batch(), c.Temperature, b.loss))
		}
		_, err := trainer.Step(c.LR)
		check(t, err)
	}
}

// everything is all trained values of a trainer.
func everything(t *testing.T, trainer *Trainer) []float32 {
	t.Helper()
	var all []float32
	for _, p := range trainer.parameters {
		for _, x := range []tensor.Tensor{p.master, p.mean, p.square} {
			all = append(all, read(t, trainer, x)...)
		}
	}
	return all
}

// A run that was saved and taken up again, in F32 or BF16, full or LoRA, has the
// bits of one that was not, and so has a second run.
func TestContinuesBitExactly(t *testing.T) {
	for _, name := range []string{"qwen3-tied", "llama-untied", "qwen3-lora"} {
		for _, dtype := range []tensor.DType{tensor.F32, tensor.BF16} {
			t.Run(name+"-"+dtype.String(), func(t *testing.T) {
				dir := filepath.Join("testdata", name)
				c := readCase(t, dir)
				o := c.options()
				o.DType = dtype
				whole := openCase(t, cpu.New(2), dir, o)
				steps(t, whole, c, 5)

				first := openCase(t, cpu.New(2), dir, o)
				steps(t, first, c, 3)
				saved := t.TempDir()
				check(t, first.Save(saved))
				second, err := OpenOn(t.Context(), cpu.New(2), dir, o)
				check(t, err)
				defer second.Close()
				check(t, second.Restore(saved))
				steps(t, second, c, 2)
				if !slices.Equal(everything(t, second), everything(t, whole)) {
					t.Error("weights or moments differ from those of the undisturbed run")
				}
				if second.Updates() != 5 {
					t.Errorf("%d updates, want 5", second.Updates())
				}
			})
		}
	}
}

// The rules of the device seam hold: a device that defers all work and refuses
// misuse computes what the oracle computes.
func TestStrictDevice(t *testing.T) {
	for _, name := range []string{"qwen3-tied", "llama-untied", "qwen3-lora"} {
		for _, checkpointing := range []bool{false, true} {
			runCase(t, strict.New(), filepath.Join("testdata", name), checkpointing)
		}
	}
}

// A saved model, adapters merged, predicts what the trainer predicts, and has
// the files of the model that was opened.
func TestSavedModelPredictsTheSame(t *testing.T) {
	for _, name := range []string{"llama-untied", "qwen3-lora"} {
		dir := filepath.Join("testdata", name)
		c := readCase(t, dir)
		trainer := openCase(t, cpu.New(2), dir, c.options())
		steps(t, trainer, c, 3)
		saved := t.TempDir()
		check(t, trainer.SaveModel(t.Context(), saved))
		again, err := OpenOn(t.Context(), cpu.New(2), saved, Options{Frozen: true})
		check(t, err)
		defer again.Close()
		b := c.Batches[0].batch()
		want, _, err := trainer.LogProbs(t.Context(), b, 1)
		check(t, err)
		got, _, err := again.LogProbs(t.Context(), b, 1)
		check(t, err)
		compare(t, name, got, want)
		for _, file := range []string{"config.json"} {
			a, err := os.ReadFile(filepath.Join(dir, file))
			check(t, err)
			b, err := os.ReadFile(filepath.Join(saved, file))
			check(t, err)
			if string(a) != string(b) {
				t.Errorf("%s: %s has changed", name, file)
			}
		}
	}
}

// A quantised GGUF is trained in full precision and saved as a folder.
func TestTrainsAGGUF(t *testing.T) {
	for _, name := range []string{"llama", "qwen3"} {
		trainer, err := OpenOn(t.Context(), cpu.New(2), "../weights/testdata/"+name+".gguf", Options{})
		check(t, err)
		defer trainer.Close()
		b := benchBatch(60, 20, trainer.Config().Vocab)
		before, _, err := trainer.LogProbs(t.Context(), b, 1)
		check(t, err)
		learn := func(_, _ int, _, _, dlogp, _ []float32) { dlogp[0] = -1 }
		check(t, trainer.Backward(t.Context(), b, 1, learn))
		_, err = trainer.Step(1e-3)
		check(t, err)
		want, _, err := trainer.LogProbs(t.Context(), b, 1)
		check(t, err)
		if want[0] <= before[0] {
			t.Errorf("%s: log-probability %v, before the step %v", name, want[0], before[0])
		}
		saved := t.TempDir()
		check(t, trainer.SaveModel(t.Context(), saved))
		again, err := OpenOn(t.Context(), cpu.New(2), saved, Options{Frozen: true})
		check(t, err)
		got, _, err := again.LogProbs(t.Context(), b, 1)
		check(t, err)
		compare(t, name, got, want)
		if err := again.Backward(t.Context(), b, 1, learn); err == nil {
			t.Error("a frozen model trains")
		}
		check(t, again.Close())
	}
}

// Without its adapters a model is the one that was opened.
func TestReferenceIsTheBase(t *testing.T) {
	dir := "testdata/qwen3-lora"
	c := readCase(t, dir)
	trainer := openCase(t, cpu.New(2), dir, c.options())
	b := c.Batches[0].batch()
	base, err := OpenOn(t.Context(), cpu.New(2), dir, Options{Frozen: true})
	check(t, err)
	defer base.Close()
	want, _, err := base.LogProbs(t.Context(), b, 1)
	check(t, err)
	got, _, err := trainer.ReferenceLogProbs(t.Context(), b, 1)
	check(t, err)
	if !slices.Equal(got, want) {
		t.Error("the reference is not the base model")
	}
	if adapted, _, _ := trainer.LogProbs(t.Context(), b, 1); slices.Equal(adapted, want) {
		t.Error("the adapters change nothing")
	}
}

// A model from scratch is normal with deviation 0.02, ones and zeros, by its
// seed, and saves as a model that opens.
func TestFromScratch(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"model_type": "llama", "hidden_size": 32,
		"num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 48, "vocab_size": 500,
		"attention_bias": true, "tie_word_embeddings": true, "dtype": "bfloat16"}`), 0o600))
	values := map[uint64][]float32{}
	for _, seed := range []uint64{1, 1, 2} {
		trainer, err := OpenOn(t.Context(), cpu.New(1), dir, Options{Scratch: true, Seed: seed})
		check(t, err)
		defer trainer.Close()
		embed := read(t, trainer, trainer.parameters[0].master)
		if before := values[seed]; before != nil && !slices.Equal(before, embed) {
			t.Error("one seed made two models")
		}
		values[seed] = embed
		for _, p := range trainer.parameters {
			v := read(t, trainer, p.master)
			if strings.HasSuffix(p.name, "norm.weight") && (slices.Min(v) != 1 || slices.Max(v) != 1) ||
				strings.HasSuffix(p.name, ".bias") && (slices.Min(v) != 0 || slices.Max(v) != 0) {
				t.Errorf("%s: %v", p.name, v)
			}
		}
		saved := t.TempDir()
		check(t, trainer.Save(saved))
		c, err := weights.Open(saved)
		check(t, err)
		h, err := c.Tensor("model.embed_tokens.weight")
		check(t, err)
		if h.DType != tensor.BF16 {
			t.Errorf("saved as %s, the config says bfloat16", h.DType)
		}
		check(t, c.Close())
	}
	var mean, square float64
	for _, v := range values[1] {
		mean += float64(v)
		square += float64(v) * float64(v)
	}
	n := float64(len(values[1]))
	if deviation := math.Sqrt(square / n); math.Abs(mean/n) > 1e-3 || math.Abs(deviation-0.02) > 1e-3 {
		t.Errorf("mean %v, deviation %v", mean/n, deviation)
	}
	if slices.Equal(values[1], values[2]) {
		t.Error("two seeds made one model")
	}
}

// Gradients that are no numbers change nothing but are gone.
func TestNonFiniteStepIsSkipped(t *testing.T) {
	dir := "testdata/qwen3-tied"
	c := readCase(t, dir)
	trainer := openCase(t, cpu.New(1), dir, c.options())
	before := everything(t, trainer)
	b := c.Batches[0]
	bad := func(_, _ int, _, _, dlogp, _ []float32) { dlogp[0] = float32(math.Inf(1)) }
	check(t, trainer.Backward(t.Context(), b.batch(), 1, bad))
	u, err := trainer.Step(c.LR)
	check(t, err)
	if !u.Skipped || !slices.Equal(everything(t, trainer), before) || trainer.Updates() != 0 {
		t.Errorf("skipped %v, updates %d, or the weights changed", u.Skipped, trainer.Updates())
	}
	steps(t, trainer, c, 1)
	fresh := openCase(t, cpu.New(1), dir, c.options())
	steps(t, fresh, c, 1)
	if !slices.Equal(everything(t, trainer), everything(t, fresh)) {
		t.Error("a skipped step leaves a trace")
	}
}

// A pass that is interrupted leaves no gradient behind.
func TestInterruptedPass(t *testing.T) {
	dir := "testdata/qwen3-tied"
	c := readCase(t, dir)
	trainer := openCase(t, cpu.New(1), dir, c.options())
	ctx, cancel := context.WithCancel(t.Context())
	stop := func(lo, hi int, logp, entropy, dlogp, dentropy []float32) {
		c.Batches[0].loss(lo, hi, logp, entropy, dlogp, dentropy)
		cancel()
	}
	if err := trainer.Backward(ctx, c.Batches[0].batch(), 1, stop); err == nil {
		err = trainer.Backward(ctx, c.Batches[0].batch(), 1, stop)
		if err == nil {
			t.Fatal("a cancelled pass succeeds")
		}
	}
	for _, p := range trainer.parameters {
		if g := read(t, trainer, p.grad); slices.ContainsFunc(g, func(v float32) bool { return v != 0 }) {
			t.Errorf("%s: a gradient is left", p.name)
		}
	}
	if trainer.pool.Used() != 0 {
		t.Errorf("%d bytes are still lent", trainer.pool.Used())
	}
}

func TestBadBatches(t *testing.T) {
	dir := "testdata/qwen3-tied"
	c := readCase(t, dir)
	trainer := openCase(t, cpu.New(1), dir, c.options())
	for what, spoil := range map[string]func(b *Batch){
		"empty":      func(b *Batch) { *b = Batch{} },
		"positions":  func(b *Batch) { b.Positions = b.Positions[1:] },
		"far":        func(b *Batch) { b.Positions[0] = 64 },
		"targets":    func(b *Batch) { b.Targets = b.Targets[1:] },
		"target":     func(b *Batch) { b.Targets[0] = 31 },
		"id":         func(b *Batch) { b.IDs[0] = -1 },
		"starts":     func(b *Batch) { b.Starts[len(b.Starts)-1]++ },
		"segment":    func(b *Batch) { b.Starts[1] = b.Starts[2] },
		"row":        func(b *Batch) { b.Rows[len(b.Rows)-1] = 99 },
		"rows order": func(b *Batch) { b.Rows[0] = b.Rows[1] },
	} {
		b := readCase(t, dir).Batches[0].batch()
		spoil(&b)
		if _, _, err := trainer.LogProbs(t.Context(), b, 1); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

func TestBadOptions(t *testing.T) {
	for what, o := range map[string]Options{
		"dtype":   {DType: tensor.F16},
		"save":    {Save: "f8"},
		"rank":    {LoRA: &LoRA{Rank: 0, Alpha: 1, Targets: []string{"q_proj"}}},
		"alpha":   {LoRA: &LoRA{Rank: 1, Targets: []string{"q_proj"}}},
		"target":  {LoRA: &LoRA{Rank: 1, Alpha: 1, Targets: []string{"lm_head"}}},
		"scratch": {Scratch: true, LoRA: &LoRA{Rank: 1, Alpha: 1, Targets: []string{"q_proj"}}},
	} {
		if trainer, err := OpenOn(t.Context(), cpu.New(1), "testdata/qwen3-tied", o); err == nil {
			t.Errorf("%s: accepted", what)
			check(t, trainer.Close())
		}
	}
}

// A beta of zero is zero; without an epsilon all constants are torch's.
func TestAdamWConstants(t *testing.T) {
	for given, want := range map[AdamW][3]float64{
		{}:                        {0.9, 0.999, 1e-8},
		{WeightDecay: 1}:          {0.9, 0.999, 1e-8},
		{Eps: 1e-6}:               {0, 0, 1e-6},
		{Beta2: 0.5, Eps: 1e-6}:   {0, 0.5, 1e-6},
		{Beta1: 0.25, Eps: 1e-30}: {0.25, 0, 1e-30},
	} {
		s := (&Trainer{options: Options{AdamW: given}}).adamW(1)
		if got := [3]float64{s.Beta1, s.Beta2, s.Eps}; got != want {
			t.Errorf("%+v: %v, want %v", given, got, want)
		}
	}
}
