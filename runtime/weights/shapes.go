package weights

import (
	"maps"
	"slices"
	"strings"

	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
)

// checkShapes compares every tensor of the decoder with the configuration, and
// refuses integers, which no decoder has. One
// that an architecture does not have is nobody's business; one that is missing
// shows when the model asks for it.
func (c *Checkpoint) checkShapes() error {
	for _, name := range slices.Sorted(maps.Keys(c.tensors)) {
		s := c.tensors[name]
		want := decoderShape(name, c.config)
		if want != nil && s.shape != nil && !slices.Equal(s.shape, want) {
			return &ShapeError{Tensor: name, Want: want, Got: s.shape}
		}
		if want != nil && s.foreign == "" && s.dtype == tensor.I32 {
			return &UnsupportedTypeError{Tensor: s.name, Type: s.dtype.String()}
		}
	}
	return nil
}

// decoderShape returns the shape that a configuration implies for a tensor; nil
// for a name that is no part of a decoder.
func decoderShape(name string, c model.Config) []int {
	stem, bias := strings.CutSuffix(name, ".bias")
	stem, weight := strings.CutSuffix(stem, ".weight")
	if bias == weight {
		return nil
	}
	out, in := decoderSizes(stem, c)
	switch {
	case out == 0:
		return nil
	case bias || in == 0:
		return []int{out}
	}
	return []int{out, in}
}

// decoderSizes returns a module's output and input width; for a norm, which has
// a weight per channel, input 0.
func decoderSizes(stem string, c model.Config) (out, in int) {
	switch stem {
	case "model.embed_tokens", "lm_head":
		return c.Vocab, c.Hidden
	case "model.norm":
		return c.Hidden, 0
	}
	layer, isLayer := strings.CutPrefix(stem, "model.layers.")
	_, part, _ := strings.Cut(layer, ".")
	if !isLayer {
		return 0, 0
	}
	switch part {
	case "input_layernorm", "post_attention_layernorm":
		return c.Hidden, 0
	case "self_attn.q_norm", "self_attn.k_norm":
		return c.HeadDim, 0
	case "self_attn.q_proj":
		return c.Heads * c.HeadDim, c.Hidden
	case "self_attn.k_proj", "self_attn.v_proj":
		return c.KVHeads * c.HeadDim, c.Hidden
	case "self_attn.o_proj":
		return c.Hidden, c.Heads * c.HeadDim
	case "mlp.gate_proj", "mlp.up_proj":
		return c.FFN, c.Hidden
	case "mlp.down_proj":
		return c.Hidden, c.FFN
	}
	return 0, 0
}
