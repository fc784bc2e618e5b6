package reference

import (
	"encoding/binary"
	"math"

	"github.com/coderl/cr/runtime/tensor"
)

// Encode stores src as d, which is F32, F16 or BF16, rounded to nearest even.
// It is the opposite of [Decode].
func Encode(dst []byte, d tensor.DType, src []float32) {
	for i, v := range src {
		switch d {
		case tensor.F32:
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(v))
		case tensor.F16:
			binary.LittleEndian.PutUint16(dst[2*i:], FloatToHalf(v))
		case tensor.BF16:
			binary.LittleEndian.PutUint16(dst[2*i:], FloatToBrain(v))
		}
	}
}

// FloatToBrain rounds to bfloat16: the upper half of a float32. A NaN stays one,
// made quiet.
func FloatToBrain(f float32) uint16 {
	u := math.Float32bits(f)
	if f != f {
		return uint16(u>>16) | 0x40
	}
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}

// FloatToHalf rounds to IEEE 754 binary16; values from 65520 on become infinity.
func FloatToHalf(f float32) uint16 {
	u := math.Float32bits(f)
	sign, size := uint16(u>>16)&0x8000, u&0x7fffffff
	switch {
	case f != f:
		return sign | 0x7e00 | uint16(size>>13)&0x1ff
	case size >= 0x477ff000: // 65520, half way past the largest
		return sign | 0x7c00
	case size < 0x38800000: // below 2⁻¹⁴: a multiple of 2⁻²⁴
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(size))*(1<<24)))
	}
	size += 0xfff + size>>13&1
	return sign | uint16((size-112<<23)>>13)
}
