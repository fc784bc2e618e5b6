package weights

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/coderl/cr/runtime/model"
)

// writtenConfig is config.json as transformers reads it, of version 4 and 5.
type writtenConfig struct {
	Architectures []string     `json:"architectures"`
	ModelType     model.Arch   `json:"model_type"`
	DType         string       `json:"torch_dtype"`
	Hidden        int          `json:"hidden_size"`
	Layers        int          `json:"num_hidden_layers"`
	Heads         int          `json:"num_attention_heads"`
	KVHeads       int          `json:"num_key_value_heads"`
	HeadDim       int          `json:"head_dim"`
	FFN           int          `json:"intermediate_size"`
	Vocab         int          `json:"vocab_size"`
	Context       int          `json:"max_position_embeddings"`
	Activation    string       `json:"hidden_act"`
	NormEps       float32      `json:"rms_norm_eps"`
	RopeTheta     float64      `json:"rope_theta"`
	RopeScaling   *writtenRope `json:"rope_scaling"`
	Tie           bool         `json:"tie_word_embeddings"`
	AttentionBias bool         `json:"attention_bias"`
	MLPBias       bool         `json:"mlp_bias"`
	BOS           *int32       `json:"bos_token_id"`
	EOS           *int32       `json:"eos_token_id"`
}

type writtenRope struct {
	Type            string  `json:"rope_type"`
	Factor          float64 `json:"factor"`
	LowFreqFactor   float64 `json:"low_freq_factor,omitempty"`
	HighFreqFactor  float64 `json:"high_freq_factor,omitempty"`
	OriginalContext int     `json:"original_max_position_embeddings,omitempty"`
	AttentionFactor float64 `json:"attention_factor,omitempty"`
	BetaFast        float64 `json:"beta_fast,omitempty"`
	BetaSlow        float64 `json:"beta_slow,omitempty"`
}

// MakeSideFiles makes the files beside a model that has none, such as a GGUF's:
// config.json and generation_config.json of its configuration. The files of its
// tokenizer, by name, are the caller's.
func MakeSideFiles(c model.Config, tokenizer map[string][]byte) (*SideFiles, error) {
	config, err := newWrittenConfig(c)
	if err != nil {
		return nil, fmt.Errorf("write config.json: %w", err)
	}
	side := &SideFiles{making: map[string][]byte{}}
	if side.files.config, err = json.MarshalIndent(config, "", "  "); err != nil {
		return nil, fmt.Errorf("write config.json: %w", err)
	}
	generation := map[string]any{"eos_token_id": c.EOS}
	if c.BOS >= 0 {
		generation["bos_token_id"] = c.BOS
	}
	if side.making["generation_config.json"], err = json.MarshalIndent(generation, "", "  "); err != nil {
		return nil, fmt.Errorf("write generation_config.json: %w", err)
	}
	for name, content := range tokenizer {
		side.making[name] = content
	}
	return side, nil
}

func newWrittenConfig(c model.Config) (writtenConfig, error) {
	w := writtenConfig{
		ModelType: c.Arch, DType: "float32", Hidden: c.Hidden, Layers: c.Layers, Heads: c.Heads, KVHeads: c.KVHeads,
		HeadDim: c.HeadDim, FFN: c.FFN, Vocab: c.Vocab, Context: c.Context, Activation: "silu", NormEps: c.NormEps,
		RopeTheta: c.RopeTheta, Tie: c.TieEmbeddings, AttentionBias: c.AttentionBias, MLPBias: c.MLPBias,
	}
	switch c.Arch {
	case model.Qwen3:
		w.Architectures = []string{"Qwen3ForCausalLM"}
	case model.Llama:
		w.Architectures = []string{"LlamaForCausalLM"}
	default:
		return w, &UnsupportedArchitectureError{Architecture: string(c.Arch)}
	}
	if c.BOS >= 0 {
		w.BOS = &c.BOS
	}
	if len(c.EOS) > 0 {
		w.EOS = &c.EOS[0]
	}
	var err error
	w.RopeScaling, err = newWrittenRope(c)
	return w, err
}

func newWrittenRope(c model.Config) (*writtenRope, error) {
	s := c.RopeScaling
	if s == nil {
		return nil, nil
	}
	if s.Type == "divisors" {
		return llama3Rope(c)
	}
	return &writtenRope{
		Type: s.Type, Factor: s.Factor, LowFreqFactor: s.LowFreqFactor, HighFreqFactor: s.HighFreqFactor,
		OriginalContext: s.OriginalContext, AttentionFactor: s.AttentionFactor, BetaFast: s.BetaFast, BetaSlow: s.BetaSlow,
	}, nil
}

// llama3Rope finds the parameters behind GGUF's worked-out divisors among those
// of the released Llama 3 models: factor 8 (3.1) and 32 (3.2).
func llama3Rope(c model.Config) (*writtenRope, error) {
	want, _, err := model.InvFreq(c)
	if err != nil {
		return nil, err
	}
	for _, factor := range []float64{8, 32} {
		try := c
		try.RopeScaling = &model.RopeScaling{
			Type: "llama3", Factor: factor, LowFreqFactor: 1, HighFreqFactor: 4, OriginalContext: 8192,
		}
		got, _, err := model.InvFreq(try)
		if err != nil {
			return nil, err
		}
		if alike(got, want) {
			return newWrittenRope(try)
		}
	}
	return nil, errors.New("the GGUF's rope divisors are those of no Llama 3: transformers has no key for them")
}

// alike tells whether frequencies agree but for rounding.
func alike(a, b []float32) bool {
	for i := range a {
		if math.Abs(float64(a[i])/float64(b[i])-1) > 1e-5 {
			return false
		}
	}
	return true
}
