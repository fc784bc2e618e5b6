package runtime

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/coderl/cr/runtime/cpu"
	"github.com/coderl/cr/runtime/sampling"
	"github.com/coderl/cr/runtime/weights"
)

// One weight that is no number makes every way of asking the model an error of
// its own: nothing is drawn from the logits that it reaches.
func TestDamagedWeightsAreAnError(t *testing.T) {
	m := tinyModelNamed(t, "llama-group3-untied")
	greedy := sampling.Params{}
	for where, tensor := range map[string]string{
		"one logit": "lm_head.weight", "a layer": "model.layers.0.mlp.up_proj.weight", "every logit": "model.norm.weight",
	} {
		for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			e := openDamaged(t, m, tensor, float32(value))
			for _, p := range []sampling.Params{
				greedy,
				{Temperature: 1},
				{Temperature: 1, TopP: 0.9},
				{Temperature: 1, TopK: 3},
				{Temperature: 1, MinP: 0.1},
				{Temperature: 1, RepetitionPenalty: 1.2},
			} {
				s, err := e.NewSequence([]int32{1, 2, 3})
				check(t, err)
				g, err := s.Generate(t.Context(), Params{Sampling: p, MaxTokens: 4}, nil)
				if !errors.Is(err, ErrNotFinite) || len(g.IDs) != 0 || s.Len() != 3 {
					t.Errorf("%v in %s, %+v: %v, error %v", value, where, p, g.IDs, err)
				}
				s.Close()
			}
			if _, err := e.Score(t.Context(), []int32{1, 2, 3, 4}); !errors.Is(err, ErrNotFinite) {
				t.Errorf("%v in %s: score: %v", value, where, err)
			}
		}
	}
}

// openDamaged opens m with one element of a tensor set to value.
func openDamaged(t *testing.T, m tinyModel, name string, value float32) *Engine {
	t.Helper()
	dir := m.folder(t)
	c, err := weights.Open(dir)
	check(t, err)
	var tensors []weights.NamedTensor
	for _, n := range c.Names() {
		h, err := c.Tensor(n)
		check(t, err)
		h.Data = append([]byte(nil), h.Data...)
		if n == name {
			binary.LittleEndian.PutUint32(h.Data[4:], math.Float32bits(value))
		}
		tensors = append(tensors, weights.NamedTensor{Name: n, Host: h})
	}
	check(t, c.Close())
	check(t, weights.WriteSafetensors(filepath.Join(dir, "model.safetensors"), tensors))
	o, err := Options{Threads: 1}.withDefaults()
	check(t, err)
	e, err := openOn(cpu.New(1), dir, o)
	check(t, err)
	t.Cleanup(func() { check(t, e.Close()) })
	return e
}

// A file without a tokenizer, or with a damaged one, still generates from ids.
func TestIDsNeedNoTokenizer(t *testing.T) {
	damaged := "weights/testdata/llama.gguf" // its merges spell tokens that it lacks
	data, err := os.ReadFile(damaged)
	check(t, err)
	without := filepath.Join(t.TempDir(), "model.gguf")
	check(t, os.WriteFile(without, bytes.Replace(data, []byte("ggml.tokens"), []byte("ggml.absent"), 1), 0o600))
	for file, absent := range map[string]bool{without: true, damaged: false} {
		e, err := Open(t.Context(), file, Options{Threads: 1})
		check(t, err)
		if _, err := e.Chat(); !errors.Is(err, weights.ErrBadCheckpoint) || errors.Is(err, fs.ErrNotExist) != absent {
			t.Errorf("%s: error is %v", file, err)
		}
		if g := generate(t, e, []int32{1, 2}, Params{MaxTokens: 3, IgnoreEOS: true}); len(g.IDs) != 3 {
			t.Errorf("%s: ids are %v", file, g.IDs)
		}
		s, err := e.NewSequence([]int32{1})
		check(t, err)
		if _, err := s.Generate(t.Context(), Params{Stop: []string{"x"}}, nil); !errors.Is(err, weights.ErrBadCheckpoint) {
			t.Errorf("%s: a stop text: %v", file, err)
		}
		check(t, e.Close())
	}
}

// A tokenizer that cannot be read is the checkpoint's fault.
func TestDamagedTokenizerIsABadCheckpoint(t *testing.T) {
	dir := tinyModelNamed(t, "llama-group3-untied").folder(t)
	o, err := Options{Threads: 1}.withDefaults()
	check(t, err)
	for _, content := range []string{"", "{}", "version https://git-lfs.github.com/spec/v1\n"} {
		check(t, os.WriteFile(filepath.Join(dir, "tokenizer.json"), []byte(content), 0o600))
		e, err := openOn(cpu.New(1), dir, o)
		check(t, err)
		if _, err := e.Chat(); !errors.Is(err, weights.ErrBadCheckpoint) {
			t.Errorf("%q: error is %v", content, err)
		}
		check(t, e.Close())
	}
}
