package reference

import (
	"encoding/binary"
	"math"

	"github.com/coderl/cr/runtime/tensor"
)

// blockLen is the number of values in a block of GGUF's Q types.
const blockLen = 32

// Decode converts stored weights to float32: len(dst) elements from src. The
// block layouts are those of GGUF (ggml-common.h): a little-endian F16 scale d
// (and minimum m), then the quants. Low nibbles are the first 16 values.
func Decode(dst []float32, d tensor.DType, src []byte) {
	switch d {
	case tensor.F32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	case tensor.F16:
		for i := range dst {
			dst[i] = HalfToFloat(binary.LittleEndian.Uint16(src[2*i:]))
		}
	case tensor.BF16:
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
		}
	case tensor.I32:
		for i := range dst {
			dst[i] = float32(int32(binary.LittleEndian.Uint32(src[4*i:])))
		}
	case tensor.Q8_0, tensor.Q4_0, tensor.Q4_1:
		_, size := d.Block()
		for b := range len(dst) / blockLen {
			decodeBlock(dst[b*blockLen:][:blockLen], d, src[b*size:][:size])
		}
	}
}

func decodeBlock(dst []float32, d tensor.DType, src []byte) {
	scale := HalfToFloat(binary.LittleEndian.Uint16(src))
	switch d {
	case tensor.Q8_0: // d, 32 × int8: d·q
		for i, q := range src[2:] {
			dst[i] = scale * float32(int8(q))
		}
	case tensor.Q4_0: // d, 16 × two nibbles: d·(q-8)
		for i, q := range src[2:] {
			dst[i] = scale * float32(int(q&15)-8)
			dst[i+16] = scale * float32(int(q>>4)-8)
		}
	case tensor.Q4_1: // d, m, 16 × two nibbles: d·q + m
		minimum := HalfToFloat(binary.LittleEndian.Uint16(src[2:]))
		for i, q := range src[4:] {
			// The product is rounded by itself, as in ggml: a fused multiply-add,
			// which a compiler may choose, would differ in the last bit.
			dst[i] = float32(scale*float32(q&15)) + minimum
			dst[i+16] = float32(scale*float32(q>>4)) + minimum
		}
	}
}

// HalfToFloat converts an IEEE 754 binary16, exactly.
func HalfToFloat(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp, frac := uint32(h>>10)&31, uint32(h&1023)
	switch exp {
	case 31: // infinity or NaN
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	case 0: // zero or subnormal: frac · 2⁻²⁴
		v := float32(frac) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(v))
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
