package weights

import (
	"encoding/binary"
	"math"

	"github.com/coderl/cr/runtime/tensor"
)

// blockLength is the number of values in a block of the Q types.
const blockLength = 32

// Dequantize returns a tensor's values, row-major. The blocks are ggml's: a
// scale d in F16, for Q4_1 then a minimum m in F16, then the quants. Byte j of
// a 4-bit block holds value j in its low and value j+16 in its high half.
//
//	Q8_0: d·q, q an int8    Q4_0: d·(q-8)    Q4_1: d·q+m
func Dequantize(h tensor.Host) []float32 {
	block, size := h.DType.Block()
	values := make([]float32, len(h.Data)/size*block)
	for i := range len(h.Data) / size {
		into, from := values[i*block:(i+1)*block], h.Data[i*size:(i+1)*size]
		switch h.DType {
		case tensor.F32:
			into[0] = math.Float32frombits(binary.LittleEndian.Uint32(from))
		case tensor.F16:
			into[0] = float16(binary.LittleEndian.Uint16(from))
		case tensor.BF16:
			into[0] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(from)) << 16)
		case tensor.I32:
			into[0] = float32(int32(binary.LittleEndian.Uint32(from)))
		case tensor.Q8_0:
			dequantizeQ8(into, from)
		case tensor.Q4_0:
			dequantizeQ4(into, from[2:], -8, 0, blockScale(from))
		case tensor.Q4_1:
			dequantizeQ4(into, from[4:], 0, blockScale(from[2:]), blockScale(from))
		}
	}
	return values
}

func blockScale(from []byte) float32 { return float16(binary.LittleEndian.Uint16(from)) }

func dequantizeQ8(into []float32, block []byte) {
	d := blockScale(block)
	for j, q := range block[2:] {
		into[j] = d * float32(int8(q))
	}
}

// dequantizeQ4 sets each value to d·(q+shift)+m.
func dequantizeQ4(into []float32, quants []byte, shift int, m, d float32) {
	for j, pair := range quants {
		// The conversion rounds the product: a fused multiply-add would differ
		// from ggml in the last bit.
		into[j] = float32(d*float32(int(pair&15)+shift)) + m
		into[j+blockLength/2] = float32(d*float32(int(pair>>4)+shift)) + m
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
