package weights

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
)

// configFolder writes config.json and, unless empty, generation_config.json.
func configFolder(t *testing.T, config, generation string) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "config.json"), config)
	if generation != "" && generation != "null" {
		writeFile(t, filepath.Join(dir, "generation_config.json"), generation)
	}
	return dir
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestConfigSpellings compares with what transformers reads in the same files.
func TestConfigSpellings(t *testing.T) {
	var cases []struct {
		Name               string
		Config, Generation json.RawMessage
		Want               struct {
			Hidden, Layers, Heads, KVHeads, HeadDim, FFN, Vocab, Context int
			NormEps                                                      float32
			Tie, AttentionBias, MLPBias                                  bool
			EOS                                                          []int32
			Scale                                                        float64
			Rope                                                         struct {
				Type     string  `json:"rope_type"`
				Theta    float64 `json:"rope_theta"`
				Factor   float64 `json:"factor"`
				Low      float64 `json:"low_freq_factor"`
				High     float64 `json:"high_freq_factor"`
				Original int     `json:"original_max_position_embeddings"`
				Fast     float64 `json:"beta_fast"`
			}
		}
	}
	readGolden(t, "configs.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			got, err := readFolderConfig(configFolder(t, string(c.Config), string(c.Generation)))
			if err != nil {
				t.Fatal(err)
			}
			w := c.Want
			sizes := []int{got.Hidden, got.Layers, got.Heads, got.KVHeads, got.HeadDim, got.FFN, got.Vocab, got.Context}
			if want := []int{w.Hidden, w.Layers, w.Heads, w.KVHeads, w.HeadDim, w.FFN, w.Vocab, w.Context}; !slices.Equal(sizes, want) {
				t.Errorf("sizes are %v, want %v", sizes, want)
			}
			if got.NormEps != w.NormEps || got.RopeTheta != w.Rope.Theta {
				t.Errorf("epsilon %v, theta %v, want %v and %v", got.NormEps, got.RopeTheta, w.NormEps, w.Rope.Theta)
			}
			if got.TieEmbeddings != w.Tie || got.AttentionBias != w.AttentionBias || got.MLPBias != w.MLPBias {
				t.Errorf("flags are %+v", got)
			}
			if !slices.Equal(got.EOS, w.EOS) {
				t.Errorf("end ids are %v, want %v", got.EOS, w.EOS)
			}
			s := got.RopeScaling
			if s == nil {
				if w.Rope.Type != "default" {
					t.Errorf("no rope scaling, want %s", w.Rope.Type)
				}
				return
			}
			if s.Type != w.Rope.Type || s.Factor != w.Rope.Factor || s.OriginalContext != w.Rope.Original ||
				s.LowFreqFactor != w.Rope.Low || s.HighFreqFactor != w.Rope.High || (w.Rope.Fast != 0 && s.BetaFast != w.Rope.Fast) {
				t.Errorf("rope scaling is %+v, want %+v", s, w.Rope)
			}
			if s.Type == "yarn" && math.Abs(s.AttentionFactor-w.Scale) > 1e-12 {
				t.Errorf("attention factor is %v, want %v", s.AttentionFactor, w.Scale)
			}
		})
	}
}

// minimal is a whole configuration; cases replace keys of it.
const minimal = `{"architectures": ["Qwen3ForCausalLM"], "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2,
	"intermediate_size": 8, "vocab_size": 4, "head_dim": 4, "eos_token_id": 1}`

func TestConfigRefusals(t *testing.T) {
	option := new(*UnsupportedOptionError)
	architecture := new(*UnsupportedArchitectureError)
	cases := []struct {
		name, replace, by string
		as                any
		want              string
	}{
		{"architecture", "Qwen3ForCausalLM", "MistralForCausalLM", architecture, `"MistralForCausalLM" is not supported`},
		{"model type alone", `"architectures": ["Qwen3ForCausalLM"]`, `"model_type": "gemma3"`, architecture, "gemma3"},
		{"no architecture", `"architectures": ["Qwen3ForCausalLM"],`, ``, architecture, `architecture ""`},
		{"sliding window", `"head_dim": 4`, `"use_sliding_window": true`, option, "use_sliding_window"},
		{"layer types", `"head_dim": 4`, `"layer_types": ["full_attention", "sliding_attention"]`, option, "sliding_attention"},
		{"activation", `"head_dim": 4`, `"hidden_act": "gelu"`, option, "gelu"},
		{"quantised", `"head_dim": 4`, `"quantization_config": {"quant_method": "gptq"}`, option, "gptq"},
		{"dynamic rope", `"head_dim": 4`, `"rope_scaling": {"type": "dynamic", "factor": 2}`, option, "dynamic"},
		{"partial rope", `"head_dim": 4`, `"partial_rotary_factor": 0.5`, option, "partial_rotary_factor = 0.5"},
		{"rope without factor", `"head_dim": 4`, `"rope_scaling": {"type": "linear"}`, nil, "factor is 0"},
		{"llama3 without its frequencies", `"head_dim": 4`, `"rope_scaling": {"rope_type": "llama3", "factor": 8}`, nil, "frequency factors are 0 and 0"},
		{"yarn without an end", `"head_dim": 4`, `"rope_scaling": {"rope_type": "yarn", "factor": 8, "original_max_position_embeddings": 0}`, nil, "original context is 0"},
		{"yarn untruncated", `"head_dim": 4`, `"rope_scaling": {"rope_type": "yarn", "factor": 8, "truncate": false}`, option, "truncate = false"},
		{"yarn with a negative beta", `"head_dim": 4`, `"rope_scaling": {"rope_type": "yarn", "factor": 8, "beta_fast": -1}`, nil, "betas -1 and 1"},
		{"yarn with a negative attention factor", `"head_dim": 4`, `"rope_scaling": {"rope_type": "yarn", "factor": 8, "attention_factor": -1}`, nil, "attention factor -1"},
		{"theta", `"head_dim": 4`, `"rope_theta": 0`, nil, "rope theta is 0"},
		{"epsilon", `"head_dim": 4`, `"rms_norm_eps": -1`, nil, "norm epsilon is -1"},
		{"negative end id", `"eos_token_id": 1`, `"eos_token_id": [1, -1]`, nil, "end-of-sequence id is -1"},
		{"no hidden size", `"hidden_size": 8,`, ``, nil, "hidden size is 0"},
		{"absurd layers", `"num_hidden_layers": 1`, `"num_hidden_layers": 1000000`, nil, "number of layers is 1000000"},
		{"negative layers", `"num_hidden_layers": 1`, `"num_hidden_layers": -1`, nil, "number of layers is -1"},
		{"uneven groups", `"head_dim": 4`, `"num_key_value_heads": 3`, nil, "cannot share"},
		{"odd head", `"head_dim": 4`, `"head_dim": 5`, nil, "odd"},
		{"no heads", `"num_attention_heads": 2`, `"num_attention_heads": 0`, nil, "number of heads is 0"},
		{"end id", `"eos_token_id": 1`, `"eos_token_id": "x"`, nil, "config.json"},
		{"not JSON", `{`, `[`, nil, "config.json"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := readFolderConfig(configFolder(t, strings.Replace(minimal, c.replace, c.by, 1), ""))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error is %v, want %q", err, c.want)
			}
			if c.as != nil && !errors.As(err, c.as) {
				t.Errorf("error is a %T", err)
			}
		})
	}
}

func TestFolderWithoutConfig(t *testing.T) {
	dir := t.TempDir()
	writeShard(t, dir, singleFile, filled(embeddings, 2))
	if _, err := Open(dir); !errors.Is(err, ErrBadCheckpoint) || !strings.Contains(err.Error(), "no config.json") {
		t.Errorf("error is %v", err)
	}
}

func TestIntegersAreNoWeights(t *testing.T) {
	dir := configFolder(t, minimal, "")
	whole := filled(embeddings, 2)
	whole.DType = tensor.I32
	writeShard(t, dir, singleFile, whole, filled(outputHead, 2))
	if _, err := Open(dir); !errors.Is(err, ErrBadCheckpoint) || !errors.As(err, new(*UnsupportedTypeError)) {
		t.Errorf("error is %v", err)
	}
}

func TestGenerationConfigWithoutIDsLeavesThemToConfig(t *testing.T) {
	got, err := readFolderConfig(configFolder(t, minimal, `{"temperature": 0.6, "eos_token_id": null}`))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.EOS, []int32{1}) || got.BOS != -1 {
		t.Errorf("end ids are %v, begin %d", got.EOS, got.BOS)
	}
}
