package weights

import (
	"fmt"

	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
)

// source serves a checkpoint's tensors to a model.
type source struct {
	*Checkpoint
	// to is the type that every value is rounded to; nil keeps them.
	to *tensor.DType
}

// Source returns the tensors as package model wants them: vectors as F32,
// matrices as the file stores them (dtype "file") or converted ("f32", "bf16").
// With "bf16" vectors hold rounded values too, as torch's conversion of a whole
// model leaves them. Converted tensors are on the heap and outlive the files.
func (c *Checkpoint) Source(dtype string) (model.Source, error) {
	switch dtype {
	case "file":
		return source{Checkpoint: c}, nil
	case "f32":
		to := tensor.F32
		return source{c, &to}, nil
	case "bf16":
		to := tensor.BF16
		return source{c, &to}, nil
	}
	return nil, fmt.Errorf("weight type %q: choose file, f32 or bf16", dtype)
}

// Tensor returns one weight, converted as needed.
func (s source) Tensor(name string) (tensor.Host, error) {
	h, err := s.Checkpoint.Tensor(name)
	if err != nil {
		return tensor.Host{}, err
	}
	if s.to != nil {
		if h, err = Convert(h, *s.to); err != nil {
			return tensor.Host{}, fmt.Errorf("tensor %s: %w", name, err)
		}
	}
	if len(h.Shape) != 1 {
		return h, nil
	}
	if h, err = Convert(h, tensor.F32); err != nil {
		return tensor.Host{}, fmt.Errorf("tensor %s: %w", name, err)
	}
	return h, nil
}
