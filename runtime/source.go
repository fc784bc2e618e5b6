package runtime

import (
	"fmt"

	"github.com/coderl/cr/runtime/cpu"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/weights"
)

// source hands a checkpoint's weights to a model in the types it computes with:
// vectors as F32, matrices as stored or as the user asked.
type source struct {
	checkpoint *weights.Checkpoint
	dtype      string // "file", "f32", "bf16"
}

// Has tells whether the checkpoint holds a weight.
func (s source) Has(name string) bool { return s.checkpoint.Has(name) }

// Tensor returns a weight by its Hugging Face name.
func (s source) Tensor(name string) (tensor.Host, error) {
	h, err := s.checkpoint.Tensor(name)
	switch {
	case err != nil:
		return h, err
	case len(h.Shape) == 1, s.dtype == "f32":
		return weights.Convert(h, tensor.F32)
	case s.dtype == "bf16":
		return weights.Convert(h, tensor.BF16)
	}
	return h, nil
}

// openDevice opens the device that the options name.
func openDevice(o Options) (tensor.Device, error) {
	switch o.Device {
	case "", "cpu":
		return cpu.New(o.Threads), nil
	}
	return nil, fmt.Errorf("device %q: only cpu is available", o.Device)
}
