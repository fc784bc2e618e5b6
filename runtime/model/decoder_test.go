package model_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/coderl/cr/runtime/cpu"
	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
)

// zeros is a checkpoint of zeros in the shapes it is told.
type zeros map[string][]int

func (z zeros) Has(name string) bool { _, ok := z[name]; return ok }

func (z zeros) Tensor(name string) (tensor.Host, error) {
	shape, ok := z[name]
	if !ok {
		return tensor.Host{}, errors.New("missing")
	}
	h := tensor.Host{DType: tensor.F32, Shape: shape}
	n := 1
	for _, d := range shape {
		n *= d
	}
	h.Data = make([]byte, 4*n)
	return h, nil
}

// qwen is the checkpoint of a config as Qwen3-0.6B's: hidden 16, but 4 heads of
// 8 dimensions.
func qwen() (model.Config, zeros) {
	c := model.Config{
		Arch: model.Qwen3, Hidden: 16, Layers: 1, Heads: 4, KVHeads: 2, HeadDim: 8, FFN: 24,
		Vocab: 11, Context: 64, NormEps: 1e-6, RopeTheta: 1e6, TieEmbeddings: true, BOS: -1,
	}
	const layer = "model.layers.0."
	return c, zeros{
		"model.embed_tokens.weight": {11, 16}, "model.norm.weight": {16},
		layer + "input_layernorm.weight": {16}, layer + "post_attention_layernorm.weight": {16},
		layer + "self_attn.q_proj.weight": {32, 16}, layer + "self_attn.k_proj.weight": {16, 16},
		layer + "self_attn.v_proj.weight": {16, 16}, layer + "self_attn.o_proj.weight": {16, 32},
		layer + "self_attn.q_norm.weight": {8}, layer + "self_attn.k_norm.weight": {8},
		layer + "mlp.gate_proj.weight": {24, 16}, layer + "mlp.up_proj.weight": {24, 16},
		layer + "mlp.down_proj.weight": {16, 24},
	}
}

func load(t *testing.T, c model.Config, w zeros) error {
	t.Helper()
	d := cpu.New(1)
	_, err := model.Load(d, w, c, 8, 2)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	return err
}

func TestLoadNamesWhatIsWrong(t *testing.T) {
	c, w := qwen()
	if err := load(t, c, w); err != nil {
		t.Fatalf("a whole checkpoint: %v", err)
	}
	for name := range w {
		_, broken := qwen()
		broken[name] = append([]int{3}, broken[name][1:]...)
		err := load(t, c, broken)
		if err == nil || !strings.Contains(err.Error(), name+": shape is [3") {
			t.Errorf("%s of a wrong shape: %v", name, err)
		}
		delete(broken, name)
		if err := load(t, c, broken); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s absent: %v", name, err)
		}
	}
	c.TieEmbeddings = false
	if err := load(t, c, w); err == nil || !strings.Contains(err.Error(), "lm_head.weight") {
		t.Errorf("untied without a head: %v", err)
	}
}

func TestLoadRefusesImpossibleConfigs(t *testing.T) {
	for name, spoil := range map[string]func(*model.Config){
		"architecture": func(c *model.Config) { c.Arch = "gemma" },
		"heads":        func(c *model.Config) { c.KVHeads = 3 },
		"head size":    func(c *model.Config) { c.HeadDim = 7 },
		"layers":       func(c *model.Config) { c.Layers = 0 },
	} {
		c, w := qwen()
		spoil(&c)
		if load(t, c, w) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A page of Qwen3-1.7B's cache: 28 layers × keys and values × 32 positions ×
// 8 heads × 128 × 4 bytes.
func TestPageBytes(t *testing.T) {
	c := model.Config{Layers: 28, KVHeads: 8, HeadDim: 128}
	if got := c.PageBytes(); got != 7340032 {
		t.Errorf("%d bytes, want 7340032", got)
	}
}
