package weights

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

// convertChunk is how many values are widened at a time; a multiple of every
// block, small enough to stay in the first-level cache.
const convertChunk = 4096

// Convert returns h in another element type: itself where it has that type
// already, else a copy in F32 or BF16. F32 holds every value exactly; BF16
// rounds to nearest, ties to even, as torch does.
func Convert(h tensor.Host, to tensor.DType) (tensor.Host, error) {
	if h.DType == to {
		return h, nil
	}
	if h.DType == tensor.I32 || (to != tensor.F32 && to != tensor.BF16) {
		return tensor.Host{}, fmt.Errorf("convert %s weights to %s: only numbers to F32 or BF16 can be made", h.DType, to)
	}
	block, size := h.DType.Block()
	total := len(h.Data) / size * block
	converted := tensor.Host{DType: to, Shape: h.Shape, Data: make([]byte, to.Bytes(total))}
	chunk := make([]float32, min(total, convertChunk))
	for done := 0; done < total; done += len(chunk) {
		values := chunk[:min(len(chunk), total-done)]
		reference.Decode(values, h.DType, h.Data[h.DType.Bytes(done):])
		store(converted.Data[to.Bytes(done):], to, values)
	}
	return converted, nil
}

// store writes values as F32 or BF16.
func store(into []byte, dtype tensor.DType, values []float32) {
	if dtype == tensor.F32 {
		for i, v := range values {
			binary.LittleEndian.PutUint32(into[4*i:], math.Float32bits(v))
		}
		return
	}
	for i, v := range values {
		binary.LittleEndian.PutUint16(into[2*i:], bfloat16(v))
	}
}

// bfloat16 keeps the upper half of a float32, rounded to nearest, ties to even.
// A NaN keeps its sign and becomes quiet, lest rounding turn it into infinity.
func bfloat16(v float32) uint16 {
	bits := math.Float32bits(v)
	if v != v {
		return uint16(bits>>16) | 0x40
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}
