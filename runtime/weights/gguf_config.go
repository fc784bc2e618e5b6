package weights

import (
	"math"
	"strconv"
	"strings"

	"github.com/coderl/cr/runtime/model"
)

// ropeDivisors is the tensor that holds Llama 3's rope scaling, worked out.
const ropeDivisors = "rope_freqs.weight"

// ggufKeys reads the metadata of one architecture, "llama.block_count" and so
// on. The first fault sticks.
type ggufKeys struct {
	arch     string
	metadata map[string]ggufValue
	err      error
}

func (k *ggufKeys) fail(key string) {
	if k.err == nil {
		k.err = corrupt("metadata %s.%s is missing or of an unexpected type", k.arch, key)
	}
}

// int reads an integer, or an array that repeats one for every layer. Without
// otherwise the key must be there.
func (k *ggufKeys) int(key string, otherwise ...int) int {
	value := k.metadata[k.arch+"."+key]
	if !value.present && len(otherwise) > 0 {
		return otherwise[0]
	}
	if value.kind == ggufArray {
		value = k.repeated(key, value)
	}
	n, ok := value.int()
	if !ok || n < 0 || n > math.MaxInt32 {
		k.fail(key)
	}
	return int(n)
}

func (k *ggufKeys) repeated(key string, array ggufValue) ggufValue {
	if array.length() == 0 {
		return ggufValue{}
	}
	first := array.at(0)
	for i := range array.length() {
		if string(array.at(i).raw) != string(first.raw) && k.err == nil {
			k.err = &UnsupportedOptionError{Option: k.arch + "." + key, Value: "different from layer to layer"}
		}
	}
	return first
}

func (k *ggufKeys) float(key string, otherwise float64) float64 {
	value := k.metadata[k.arch+"."+key]
	if !value.present {
		return otherwise
	}
	f, ok := value.float()
	if !ok {
		k.fail(key)
	}
	return f
}

// ggufConfig reads the configuration from the metadata and, for what GGUF says
// by presence alone (biases, a separate output projection), from the tensors.
func (c *Checkpoint) ggufConfig(file *ggufFile) (model.Config, error) {
	name, _ := file.metadata["general.architecture"].string()
	arch := model.Arch(name)
	if arch != model.Llama && arch != model.Qwen3 {
		return model.Config{}, &UnsupportedArchitectureError{Architecture: name}
	}
	embed, ok := c.tensors[embeddings]
	if !ok || len(embed.shape) != 2 {
		return model.Config{}, &MissingTensorError{Tensor: "token_embd.weight"}
	}
	k := &ggufKeys{arch: name, metadata: file.metadata}
	config := model.Config{
		Arch:          arch,
		Hidden:        k.int("embedding_length"),
		Layers:        k.int("block_count"),
		Heads:         k.int("attention.head_count"),
		FFN:           k.int("feed_forward_length"),
		Vocab:         embed.shape[0],
		Context:       k.int("context_length"),
		NormEps:       float32(k.float("attention.layer_norm_rms_epsilon", 1e-6)),
		RopeTheta:     k.float("rope.freq_base", 10000),
		TieEmbeddings: !c.Has(outputHead),
		AttentionBias: c.Has("model.layers.0.self_attn.q_proj.bias"),
		MLPBias:       c.Has("model.layers.0.mlp.gate_proj.bias"),
		EOS:           endIDs(file.metadata, c.vocabulary),
		BOS:           tokenID(file.metadata, "bos_token_id"),
	}
	config.KVHeads = k.int("attention.head_count_kv", config.Heads)
	config.HeadDim = k.int("attention.key_length", config.Hidden/max(1, config.Heads))
	k.refuseOptions(config)
	if k.err != nil {
		return model.Config{}, k.err
	}
	var err error
	if config.RopeScaling, err = c.ggufScaling(k); err != nil {
		return model.Config{}, err
	}
	return config, checkConfig(config)
}

// refuseOptions refuses metadata that would change results.
func (k *ggufKeys) refuseOptions(config model.Config) {
	inactive := []struct {
		key  string
		want int
	}{
		{"attention.value_length", config.HeadDim},
		{"rope.dimension_count", config.HeadDim},
		{"expert_count", 0},
		{"attention.sliding_window", 0},
	}
	for _, option := range inactive {
		if got := k.int(option.key, option.want); got != option.want && k.err == nil {
			k.err = &UnsupportedOptionError{Option: k.arch + "." + option.key, Value: strconv.Itoa(got)}
		}
	}
}

// ggufScaling follows llama.cpp: a linear factor, YaRN with its magnitude
// correction 1+0.1·ln(factor), or a tensor of divisors.
func (c *Checkpoint) ggufScaling(k *ggufKeys) (*model.RopeScaling, error) {
	kind, _ := k.metadata[k.arch+".rope.scaling.type"].string()
	factor := k.float("rope.scaling.factor", 1)
	scaling := &model.RopeScaling{Type: kind, Factor: factor}
	switch {
	case c.Has(ropeDivisors) && (kind == "" || kind == "none"):
		divisors, err := c.ropeDivisors()
		return &model.RopeScaling{Type: "divisors", Divisors: divisors}, err
	case c.Has(ropeDivisors):
		return nil, &UnsupportedOptionError{Option: "rope scaling " + kind, Value: "joined with " + ropeDivisors}
	case kind == "" || kind == "none":
		return nil, nil
	case kind == "linear":
	case kind == "yarn":
		scaling.OriginalContext = k.int("rope.scaling.original_context_length", k.int("context_length"))
		scaling.BetaFast = k.float("rope.scaling.yarn_beta_fast", 32)
		scaling.BetaSlow = k.float("rope.scaling.yarn_beta_slow", 1)
		scaling.AttentionFactor = k.float("rope.scaling.attn_factor", 1) * yarnScale(factor, 1)
	default:
		return nil, &UnsupportedOptionError{Option: k.arch + ".rope.scaling.type", Value: kind}
	}
	return scaling, k.err
}

func (c *Checkpoint) ropeDivisors() ([]float32, error) {
	h, err := c.Tensor(ropeDivisors)
	if err != nil {
		return nil, err
	}
	divisors := Dequantize(h)
	for i, divisor := range divisors {
		if !(divisor > 0) {
			return nil, corrupt("tensor %s: entry %d is %v", ropeDivisors, i, divisor)
		}
	}
	return divisors, nil
}

// markPaired notes the query and key tensors of the llama architecture, the only
// one whose rows the converter moves.
func (c *Checkpoint) markPaired() error {
	if c.config.Arch != model.Llama {
		return nil
	}
	for name, s := range c.tensors {
		switch {
		case strings.Contains(name, ".self_attn.q_proj."):
			s.pairedHeads = c.config.Heads
		case strings.Contains(name, ".self_attn.k_proj."):
			s.pairedHeads = c.config.KVHeads
		default:
			continue
		}
		// A vector of blocks has no whole rows to move.
		if block, _ := s.dtype.Block(); len(s.shape) == 1 && block > 1 {
			return &UnsupportedTypeError{Tensor: s.name, Type: s.dtype.String()}
		}
		c.tensors[name] = s
	}
	return nil
}
