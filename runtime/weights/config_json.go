package weights

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/coderl/cr/runtime/model"
)

// folderConfig is the part of config.json that shapes a decoder. Pointers tell
// an absent (or null) key from a zero.
type folderConfig struct {
	Architectures    []string        `json:"architectures"`
	ModelType        string          `json:"model_type"`
	Hidden           int             `json:"hidden_size"`
	Layers           int             `json:"num_hidden_layers"`
	Heads            int             `json:"num_attention_heads"`
	KVHeads          *int            `json:"num_key_value_heads"`
	HeadDim          *int            `json:"head_dim"`
	FFN              int             `json:"intermediate_size"`
	Vocab            int             `json:"vocab_size"`
	Context          *int            `json:"max_position_embeddings"`
	NormEps          *float32        `json:"rms_norm_eps"`
	Tie              bool            `json:"tie_word_embeddings"`
	AttentionBias    bool            `json:"attention_bias"`
	MLPBias          bool            `json:"mlp_bias"`
	Activation       string          `json:"hidden_act"`
	UseSlidingWindow bool            `json:"use_sliding_window"`
	LayerTypes       []string        `json:"layer_types"`
	Quantization     json.RawMessage `json:"quantization_config"`
	EOS              tokenIDs        `json:"eos_token_id"`
	BOS              tokenIDs        `json:"bos_token_id"`
	ropeConfig
}

// readFolderConfig reads config.json and, where it exists, generation_config.json.
func readFolderConfig(dir string) (model.Config, error) {
	file, err := decodeFolderConfig(filepath.Join(dir, "config.json"))
	if err != nil {
		return model.Config{}, err
	}
	config, err := file.config()
	if err != nil {
		return model.Config{}, fmt.Errorf("config.json: %w", err)
	}
	var generation struct {
		EOS tokenIDs `json:"eos_token_id"`
	}
	err = readJSON(filepath.Join(dir, "generation_config.json"), &generation)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return model.Config{}, err
	}
	if len(generation.EOS.list) > 0 {
		config.EOS = generation.EOS.list
	}
	return config, checkConfig(config)
}

// decodeFolderConfig reads the file over the defaults that transformers'
// Qwen3Config gives absent keys; a null key loses its default again.
func decodeFolderConfig(path string) (folderConfig, error) {
	var file folderConfig
	err := readJSON(path, &file)
	if errors.Is(err, fs.ErrNotExist) {
		return file, errors.New("no config.json in the folder")
	}
	if err != nil {
		return file, err
	}
	if arch, err := file.arch(); err != nil || arch != model.Qwen3 {
		return file, err
	}
	headDim, kvHeads := 128, 32
	file = folderConfig{HeadDim: &headDim, KVHeads: &kvHeads}
	return file, readJSON(path, &file)
}

func (f *folderConfig) config() (model.Config, error) {
	arch, err := f.arch()
	if err != nil {
		return model.Config{}, err
	}
	if err := f.refuseOptions(); err != nil {
		return model.Config{}, err
	}
	context := valueOr(f.Context, defaultContext(arch))
	scaling, err := f.scaling(context)
	if err != nil {
		return model.Config{}, err
	}
	config := model.Config{
		Arch: arch, Hidden: f.Hidden, Layers: f.Layers, Heads: f.Heads, FFN: f.FFN, Vocab: f.Vocab,
		KVHeads: valueOr(f.KVHeads, f.Heads),
		Context: context,
		// The defaults are those of transformers' configuration classes.
		NormEps:       valueOr(f.NormEps, 1e-6),
		RopeTheta:     f.theta(),
		RopeScaling:   scaling,
		TieEmbeddings: f.Tie,
		AttentionBias: f.AttentionBias,
		MLPBias:       f.MLPBias && arch == model.Llama,
		EOS:           f.EOS.or(arch, 2),
		BOS:           -1,
	}
	if bos := f.BOS.or(arch, 1); len(bos) > 0 {
		config.BOS = bos[0]
	}
	config.HeadDim = valueOr(f.HeadDim, f.Hidden/max(1, f.Heads))
	return config, nil
}

// arch prefers the class that the weights were saved from over the model type,
// since classifiers and the like share the latter.
func (f *folderConfig) arch() (model.Arch, error) {
	name := f.ModelType
	if len(f.Architectures) > 0 {
		name = f.Architectures[0]
	}
	switch name {
	case "Qwen3ForCausalLM", "qwen3":
		return model.Qwen3, nil
	case "LlamaForCausalLM", "llama":
		return model.Llama, nil
	}
	return "", &UnsupportedArchitectureError{Architecture: name}
}

// refuseOptions refuses what would change results. An option that is present
// but inactive, such as Qwen3's use_sliding_window: false, passes.
func (f *folderConfig) refuseOptions() error {
	if activation := cmp.Or(f.Activation, "silu"); activation != "silu" && activation != "swish" {
		return &UnsupportedOptionError{Option: "hidden_act", Value: activation}
	}
	if f.UseSlidingWindow {
		return &UnsupportedOptionError{Option: "use_sliding_window", Value: "true"}
	}
	for _, kind := range f.LayerTypes {
		if kind != "full_attention" {
			return &UnsupportedOptionError{Option: "layer_types", Value: kind}
		}
	}
	if len(f.Quantization) > 0 && string(f.Quantization) != "null" {
		var method struct {
			Name string `json:"quant_method"`
		}
		if err := json.Unmarshal(f.Quantization, &method); err != nil {
			return fmt.Errorf("quantization_config: %w", err)
		}
		return &UnsupportedOptionError{Option: "quantization_config.quant_method", Value: method.Name}
	}
	return nil
}

func defaultContext(arch model.Arch) int {
	if arch == model.Qwen3 {
		return 32768
	}
	return 2048
}

func valueOr[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// tokenIDs is a token id or a list of them. An absent key stands for the
// architecture's default, null for none.
type tokenIDs struct {
	given bool
	list  []int32
}

// UnmarshalJSON accepts the three forms.
func (ids *tokenIDs) UnmarshalJSON(data []byte) error {
	ids.given, ids.list = true, nil
	if string(data) == "null" {
		return nil
	}
	if len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, &ids.list)
	}
	var id int32
	if err := json.Unmarshal(data, &id); err != nil {
		return err
	}
	ids.list = []int32{id}
	return nil
}

// or returns the ids, or without a key the architecture's own: transformers
// gives Llama alone such defaults.
func (ids tokenIDs) or(arch model.Arch, llama int32) []int32 {
	if !ids.given && arch == model.Llama {
		return []int32{llama}
	}
	return ids.list
}
