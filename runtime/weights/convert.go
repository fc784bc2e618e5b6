package weights

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/coderl/cr/runtime/tensor"
)

// Convert returns h in another element type: itself where it has that type
// already, else a copy in F32 or BF16. F32 holds every value exactly; BF16
// rounds to nearest, ties to even, as torch does.
func Convert(h tensor.Host, to tensor.DType) (tensor.Host, error) {
	if h.DType == to {
		return h, nil
	}
	if h.DType == tensor.I32 {
		return tensor.Host{}, fmt.Errorf("convert integers to %s", to)
	}
	converted := tensor.Host{DType: to, Shape: h.Shape}
	values := Dequantize(h)
	switch to {
	case tensor.F32:
		converted.Data = make([]byte, 4*len(values))
		for i, v := range values {
			binary.LittleEndian.PutUint32(converted.Data[4*i:], math.Float32bits(v))
		}
	case tensor.BF16:
		converted.Data = make([]byte, 2*len(values))
		for i, v := range values {
			binary.LittleEndian.PutUint16(converted.Data[2*i:], bfloat16(v))
		}
	default:
		return tensor.Host{}, fmt.Errorf("convert weights to %s: only F32 and BF16 can be made", to)
	}
	return converted, nil
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
