package model

import (
	"fmt"
	"slices"

	"github.com/coderl/cr/runtime/tensor"
)

// Source is where a model's weights come from, by their Hugging Face names.
// Matrices come in any weight type of [tensor.Device.MatMul]; vectors (norms,
// biases) come as F32.
type Source interface {
	// Tensor returns one weight. Its data stays valid while the model lives.
	Tensor(name string) (tensor.Host, error)
	// Has tells whether the checkpoint holds a weight of that name.
	Has(name string) bool
}

// loader moves weights to a device and checks their shapes.
type loader struct {
	dev   tensor.Device
	src   Source
	bytes int64
}

// Has implements [Weights].
func (l *loader) Has(name string) bool { return l.src.Has(name) }

// Weight implements [Weights].
func (l *loader) Weight(name string, shape ...int) (tensor.Tensor, error) {
	h, err := HostWeight(l.src, name, shape...)
	if err != nil {
		return tensor.Tensor{}, err
	}
	t, err := l.dev.Load(h)
	if err != nil {
		return tensor.Tensor{}, fmt.Errorf("load %s: %w", name, err)
	}
	l.bytes += int64(len(h.Data))
	return t, nil
}

// HostWeight returns a source's weight called name, after checking that it has
// exactly this shape.
func HostWeight(src Source, name string, shape ...int) (tensor.Host, error) {
	h, err := src.Tensor(name)
	if err != nil {
		return tensor.Host{}, fmt.Errorf("load %s: %w", name, err)
	}
	if !slices.Equal(h.Shape, shape) {
		return tensor.Host{}, fmt.Errorf("load %s: shape is %v, the config implies %v", name, h.Shape, shape)
	}
	return h, nil
}
