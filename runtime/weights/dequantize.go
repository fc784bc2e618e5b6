package weights

import (
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

// Dequantize returns a tensor's values, row-major.
func Dequantize(h tensor.Host) []float32 {
	block, size := h.DType.Block()
	values := make([]float32, len(h.Data)/size*block)
	reference.Decode(values, h.DType, h.Data)
	return values
}
