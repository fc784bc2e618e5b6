package sft

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/coderl/cr/internal/atomicfile"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/runtime/chat"
)

// textFiles are those of a model's text side; a model has some of them.
var textFiles = [...]string{
	"tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "chat_template.json", "special_tokens_map.json",
	"added_tokens.json", "vocab.json", "merges.txt", "tokenizer.model", "generation_config.json",
}

// newConfig is the config.json of a new model, as transformers writes it.
type newConfig struct {
	Architectures []string `json:"architectures"`
	ModelType     string   `json:"model_type"`
	Vocab         int      `json:"vocab_size"`
	Hidden        int      `json:"hidden_size"`
	FFN           int      `json:"intermediate_size"`
	Layers        int      `json:"num_hidden_layers"`
	Heads         int      `json:"num_attention_heads"`
	KVHeads       int      `json:"num_key_value_heads"`
	HeadDim       int      `json:"head_dim"`
	Context       int      `json:"max_position_embeddings"`
	RopeTheta     float64  `json:"rope_theta"`
	NormEps       float64  `json:"rms_norm_eps"`
	Tie           bool     `json:"tie_word_embeddings"`
	Activation    string   `json:"hidden_act"`
	AttentionBias bool     `json:"attention_bias"`
	DType         string   `json:"torch_dtype"`
	EOS           *int32   `json:"eos_token_id,omitempty"`
	BOS           *int32   `json:"bos_token_id"`
	Pad           *int32   `json:"pad_token_id,omitempty"`
}

// WriteNewModel fills a folder with what a model from nothing begins as: its
// config.json, and the text files of the folder it takes its tokenizer from,
// byte for byte. text is that tokenizer.
func WriteNewModel(dir string, n preset.NewModel, tokenizer string, text *chat.Model) error {
	for _, name := range textFiles {
		err := atomicfile.Copy(filepath.Join(tokenizer, name), filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("new model: %w", err)
		}
	}
	architecture := map[string]string{"qwen3": "Qwen3ForCausalLM", "llama": "LlamaForCausalLM"}[n.Arch]
	config := newConfig{
		Architectures: []string{architecture}, ModelType: n.Arch, Vocab: text.VocabularySize(),
		Hidden: n.Hidden, FFN: n.FFN, Layers: n.Layers, Heads: n.Heads, KVHeads: n.KVHeads, HeadDim: n.HeadDim,
		Context: n.Context, RopeTheta: n.RopeTheta, NormEps: n.NormEps, Tie: n.TieEmbeddings,
		Activation: "silu", DType: "float32",
	}
	if id, ok := text.EndOfTurn(); ok {
		config.EOS = &id
	}
	tokens := text.SpecialTokens()
	for _, special := range []struct {
		to   **int32
		name string
	}{{&config.BOS, tokens.BOS}, {&config.Pad, tokens.PAD}} {
		if id, ok := text.TokenID(special.name); ok && special.name != "" {
			*special.to = &id
		}
	}
	out, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return fmt.Errorf("new model: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, "config.json"), append(out, '\n'), 0o644)
}
