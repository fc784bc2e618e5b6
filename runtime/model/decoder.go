package model

import "fmt"

// Decoder is the weights of a model, of whatever type W the interpreter of its
// graph wants them: memory of a device to serve, parameters to train.
type Decoder[W any] struct {
	Embed  W // [vocab, hidden]
	Blocks []Block[W]
	Norm   W // [hidden]
	Head   W // [vocab, hidden]; Embed itself where tied
}

// Block is the weights of one decoder layer.
type Block[W any] struct {
	AttnNorm, MLPNorm W // [hidden]
	Q, K, V, O        Linear[W]
	QNorm, KNorm      W // per head, [headDim]; Qwen3 only
	Gate, Up, Down    Linear[W]
}

// Linear is y = x·Wᵀ + b.
type Linear[W any] struct {
	Weight W // [out, in]
	Bias   W // [out]; the zero value where the layer has none
}

// Weights finds weights by their Hugging Face names.
type Weights[W any] interface {
	// Has tells whether there is a weight of that name.
	Has(name string) bool
	// Weight returns one, of exactly this shape.
	Weight(name string, shape ...int) (W, error)
}

// NewDecoder collects the weights of cfg. A weight that is absent or of another
// shape than cfg implies is an error that names it.
func NewDecoder[W any](cfg Config, from Weights[W]) (*Decoder[W], error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	c := &collector[W]{from: from}
	d := &Decoder[W]{
		Embed: c.get("model.embed_tokens.weight", cfg.Vocab, cfg.Hidden),
		Norm:  c.get("model.norm.weight", cfg.Hidden),
	}
	d.Head = d.Embed
	if !cfg.TieEmbeddings {
		d.Head = c.get("lm_head.weight", cfg.Vocab, cfg.Hidden)
	}
	for i := range cfg.Layers {
		d.Blocks = append(d.Blocks, c.block(cfg, fmt.Sprintf("model.layers.%d.", i)))
	}
	return d, c.err
}

// collector gets weights until the first failure, which sticks, so that a layer
// reads as the list of its weights.
type collector[W any] struct {
	from Weights[W]
	err  error
}

func (c *collector[W]) get(name string, shape ...int) (w W) {
	if c.err == nil {
		w, c.err = c.from.Weight(name, shape...)
	}
	return w
}

// linear gets prefix.weight [out, in] and, where the layer has one, prefix.bias.
func (c *collector[W]) linear(prefix string, out, in int, bias bool) Linear[W] {
	l := Linear[W]{Weight: c.get(prefix+".weight", out, in)}
	if bias {
		l.Bias = c.get(prefix+".bias", out)
	}
	return l
}

// block gets one layer's weights.
func (c *collector[W]) block(cfg Config, prefix string) Block[W] {
	attn, mlp := prefix+"self_attn.", prefix+"mlp."
	queries, keys := cfg.Heads*cfg.HeadDim, cfg.KVHeads*cfg.HeadDim
	outBias := cfg.AttentionBias && c.from.Has(attn+"o_proj.bias")
	b := Block[W]{
		AttnNorm: c.get(prefix+"input_layernorm.weight", cfg.Hidden),
		Q:        c.linear(attn+"q_proj", queries, cfg.Hidden, cfg.AttentionBias),
		K:        c.linear(attn+"k_proj", keys, cfg.Hidden, cfg.AttentionBias),
		V:        c.linear(attn+"v_proj", keys, cfg.Hidden, cfg.AttentionBias),
		O:        c.linear(attn+"o_proj", cfg.Hidden, queries, outBias),
		MLPNorm:  c.get(prefix+"post_attention_layernorm.weight", cfg.Hidden),
		Gate:     c.linear(mlp+"gate_proj", cfg.FFN, cfg.Hidden, cfg.MLPBias),
		Up:       c.linear(mlp+"up_proj", cfg.FFN, cfg.Hidden, cfg.MLPBias),
		Down:     c.linear(mlp+"down_proj", cfg.Hidden, cfg.FFN, cfg.MLPBias),
	}
	if cfg.Arch == Qwen3 {
		b.QNorm = c.get(attn+"q_norm.weight", cfg.HeadDim)
		b.KNorm = c.get(attn+"k_norm.weight", cfg.HeadDim)
	}
	return b
}

// check refuses configurations that no graph here can run.
func (c Config) check() error {
	switch {
	case c.Arch != Qwen3 && c.Arch != Llama:
		return fmt.Errorf("architecture %q is not supported (qwen3, llama)", c.Arch)
	case c.Hidden <= 0 || c.Layers <= 0 || c.FFN <= 0 || c.Vocab <= 0 || c.Context <= 0:
		return fmt.Errorf("config: sizes must be positive: hidden %d, layers %d, ffn %d, vocabulary %d, context %d",
			c.Hidden, c.Layers, c.FFN, c.Vocab, c.Context)
	case c.Heads <= 0 || c.KVHeads <= 0 || c.Heads%c.KVHeads != 0:
		return fmt.Errorf("config: %d query heads do not divide into %d key/value heads", c.Heads, c.KVHeads)
	case c.HeadDim <= 0 || c.HeadDim%2 != 0:
		return fmt.Errorf("config: head dimension %d is not even and positive", c.HeadDim)
	}
	return nil
}
