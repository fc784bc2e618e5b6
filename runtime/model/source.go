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

// loader moves weights to a device and checks their shapes. The first failure
// sticks, so that a layer reads as the list of its weights.
type loader struct {
	dev   tensor.Device
	src   Source
	err   error
	bytes int64
}

// load returns the weight called name, of exactly this shape.
func (l *loader) load(name string, shape ...int) tensor.Tensor {
	if l.err != nil {
		return tensor.Tensor{}
	}
	h, err := l.src.Tensor(name)
	if err != nil {
		l.err = fmt.Errorf("load %s: %w", name, err)
		return tensor.Tensor{}
	}
	if !slices.Equal(h.Shape, shape) {
		l.err = fmt.Errorf("load %s: shape is %v, the config implies %v", name, h.Shape, shape)
		return tensor.Tensor{}
	}
	t, err := l.dev.Load(h)
	if err != nil {
		l.err = fmt.Errorf("load %s: %w", name, err)
	}
	l.bytes += int64(len(h.Data))
	return t
}

// linear loads prefix.weight [out, in] and, where the config says so,
// prefix.bias [out].
func (l *loader) linear(prefix string, out, in int, bias bool) linear {
	lin := linear{weight: l.load(prefix+".weight", out, in)}
	if bias {
		lin.bias = l.load(prefix+".bias", out)
	}
	return lin
}
