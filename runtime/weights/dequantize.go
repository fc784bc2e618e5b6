package weights

import (
	"encoding/binary"
	"math"

	"github.com/coderl/cr/runtime/tensor"
)

// blockLength is the number of values in a block of the Q types.
const blockLength = 32

// Dequantize returns a tensor's values, row-major.
func Dequantize(h tensor.Host) []float32 {
	block, size := h.DType.Block()
	values := make([]float32, len(h.Data)/size*block)
	dequantize(values, h.DType, h.Data)
	return values
}

// dequantize widens whole elements or blocks. The blocks are ggml's: a scale d
// in F16, for Q4_1 then a minimum m in F16, then the quants. Byte j of a 4-bit
// block holds value j in its low and value j+16 in its high half.
//
//	Q8_0: d·q, q an int8    Q4_0: d·(q-8)    Q4_1: d·q+m
func dequantize(values []float32, dtype tensor.DType, data []byte) {
	switch dtype {
	case tensor.F32:
		for i := range values {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
	case tensor.F16:
		for i := range values {
			values[i] = float16(binary.LittleEndian.Uint16(data[2*i:]))
		}
	case tensor.BF16:
		for i := range values {
			values[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(data[2*i:])) << 16)
		}
	case tensor.I32:
		for i := range values {
			values[i] = float32(int32(binary.LittleEndian.Uint32(data[4*i:])))
		}
	default:
		_, size := dtype.Block()
		for i := range len(values) / blockLength {
			dequantizeBlock(values[i*blockLength:(i+1)*blockLength], dtype, data[i*size:(i+1)*size])
		}
	}
}

func dequantizeBlock(into []float32, dtype tensor.DType, block []byte) {
	d := float16(binary.LittleEndian.Uint16(block))
	switch dtype {
	case tensor.Q8_0:
		for j, q := range block[2:] {
			into[j] = d * float32(int8(q))
		}
	case tensor.Q4_0:
		scaleNibbles(into, block[2:], d, -8)
	case tensor.Q4_1:
		scaleNibbles(into, block[4:], d, 0)
		m := float16(binary.LittleEndian.Uint16(block[2:]))
		for j := range into {
			into[j] += m
		}
	}
}

// scaleNibbles sets each value to d·(q+shift). Stored before a minimum is added,
// the product is rounded as in ggml; a fused multiply-add would differ from it
// in the last bit.
func scaleNibbles(into []float32, quants []byte, d float32, shift int) {
	for j, pair := range quants {
		into[j] = d * float32(int(pair&15)+shift)
		into[j+blockLength/2] = d * float32(int(pair>>4)+shift)
	}
}

// float16 widens an IEEE half: 1 sign, 5 exponent, 10 fraction bits.
func float16(bits uint16) float32 {
	sign := uint32(bits>>15) << 31
	exponent, fraction := uint32(bits>>10)&31, uint32(bits)&1023
	switch exponent {
	case 0: // zero or subnormal: fraction·2⁻²⁴
		value := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(value) | sign)
	case 31: // infinity or NaN
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
