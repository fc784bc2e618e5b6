package model

import (
	"fmt"
	"math"

	"github.com/coderl/cr/runtime/tensor"
)

// Model is a decoder on a device: its weights, and scratch memory for a bounded
// number of rows. Like its device, it is used by one goroutine at a time.
type Model struct {
	Config      Config
	WeightBytes int64 // as stored

	dev       tensor.Device
	embed     tensor.Tensor // [vocab, hidden]
	blocks    []block
	norm      tensor.Tensor // [hidden]
	head      tensor.Tensor // [vocab, hidden]; the embedding's table where tied
	invFreq   tensor.Tensor // [headDim/2]
	ropeScale float32
	attnScale float32 // 1/√headDim
	scratch   scratch
}

// block is one decoder layer.
type block struct {
	attnNorm, mlpNorm tensor.Tensor
	q, k, v, o        linear
	qNorm, kNorm      tensor.Tensor // per head, [headDim]; Qwen3 only
	gate, up, down    linear
}

// linear is y = x·Wᵀ + b; bias has no memory where the layer has none.
type linear struct {
	weight, bias tensor.Tensor
}

// Load reads the weights of cfg from src onto dev. maxRows bounds the rows of
// one [Model.Forward], maxOut its rows of logits. A weight that is absent or of
// another shape than cfg implies is an error that names it.
func Load(dev tensor.Device, src Source, cfg Config, maxRows, maxOut int) (*Model, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	l := &loader{dev: dev, src: src}
	m := &Model{
		Config:    cfg,
		dev:       dev,
		embed:     l.load("model.embed_tokens.weight", cfg.Vocab, cfg.Hidden),
		norm:      l.load("model.norm.weight", cfg.Hidden),
		attnScale: float32(1 / math.Sqrt(float64(cfg.HeadDim))),
	}
	m.head = m.embed
	if !cfg.TieEmbeddings {
		m.head = l.load("lm_head.weight", cfg.Vocab, cfg.Hidden)
	}
	for i := range cfg.Layers {
		m.blocks = append(m.blocks, l.block(cfg, fmt.Sprintf("model.layers.%d.", i)))
	}
	if l.err != nil {
		return nil, l.err
	}
	m.WeightBytes = l.bytes
	if err := m.loadRoPE(); err != nil {
		return nil, err
	}
	var err error
	m.scratch, err = newScratch(dev, cfg, maxRows, maxOut)
	return m, err
}

// block loads one layer's weights.
func (l *loader) block(cfg Config, prefix string) block {
	attn, mlp := prefix+"self_attn.", prefix+"mlp."
	queries, keys := cfg.Heads*cfg.HeadDim, cfg.KVHeads*cfg.HeadDim
	outBias := cfg.AttentionBias && l.src.Has(attn+"o_proj.bias")
	b := block{
		attnNorm: l.load(prefix+"input_layernorm.weight", cfg.Hidden),
		q:        l.linear(attn+"q_proj", queries, cfg.Hidden, cfg.AttentionBias),
		k:        l.linear(attn+"k_proj", keys, cfg.Hidden, cfg.AttentionBias),
		v:        l.linear(attn+"v_proj", keys, cfg.Hidden, cfg.AttentionBias),
		o:        l.linear(attn+"o_proj", cfg.Hidden, queries, outBias),
		mlpNorm:  l.load(prefix+"post_attention_layernorm.weight", cfg.Hidden),
		gate:     l.linear(mlp+"gate_proj", cfg.FFN, cfg.Hidden, cfg.MLPBias),
		up:       l.linear(mlp+"up_proj", cfg.FFN, cfg.Hidden, cfg.MLPBias),
		down:     l.linear(mlp+"down_proj", cfg.Hidden, cfg.FFN, cfg.MLPBias),
	}
	if cfg.Arch == Qwen3 {
		b.qNorm = l.load(attn+"q_norm.weight", cfg.HeadDim)
		b.kNorm = l.load(attn+"k_norm.weight", cfg.HeadDim)
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
