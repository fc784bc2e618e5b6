package weights

import (
	"fmt"

	"github.com/coderl/cr/runtime/tensor"
)

// ggmlType is a ggml element type: elements are stored block by block. A
// foreign one has no dtype; a zero block is one of unknown size.
type ggmlType struct {
	name         string
	dtype        tensor.DType
	foreign      bool
	block, bytes int
}

// ggmlTypeOf returns the type of a number in the file (enum ggml_type).
func ggmlTypeOf(kind uint32) ggmlType {
	switch kind {
	case 0:
		return nativeType(tensor.F32)
	case 1:
		return nativeType(tensor.F16)
	case 2:
		return nativeType(tensor.Q4_0)
	case 3:
		return nativeType(tensor.Q4_1)
	case 8:
		return nativeType(tensor.Q8_0)
	case 26:
		return nativeType(tensor.I32)
	case 30:
		return nativeType(tensor.BF16)
	}
	t := foreignGGMLType(kind)
	t.foreign = true
	return t
}

func nativeType(dtype tensor.DType) ggmlType {
	block, bytes := dtype.Block()
	return ggmlType{name: dtype.String(), dtype: dtype, block: block, bytes: bytes}
}

// foreignGGMLType names the element types that no kernel handles, with the size
// of their blocks, so that a file holding some is still checked whole.
func foreignGGMLType(kind uint32) ggmlType {
	switch kind {
	case 6:
		return ggmlType{name: "Q5_0", block: 32, bytes: 22}
	case 7:
		return ggmlType{name: "Q5_1", block: 32, bytes: 24}
	case 9:
		return ggmlType{name: "Q8_1", block: 32, bytes: 40}
	case 10:
		return ggmlType{name: "Q2_K", block: 256, bytes: 84}
	case 11:
		return ggmlType{name: "Q3_K", block: 256, bytes: 110}
	case 12:
		return ggmlType{name: "Q4_K", block: 256, bytes: 144}
	case 13:
		return ggmlType{name: "Q5_K", block: 256, bytes: 176}
	case 14:
		return ggmlType{name: "Q6_K", block: 256, bytes: 210}
	case 15:
		return ggmlType{name: "Q8_K", block: 256, bytes: 292}
	case 16:
		return ggmlType{name: "IQ2_XXS", block: 256, bytes: 66}
	case 17:
		return ggmlType{name: "IQ2_XS", block: 256, bytes: 74}
	case 18:
		return ggmlType{name: "IQ3_XXS", block: 256, bytes: 98}
	case 19:
		return ggmlType{name: "IQ1_S", block: 256, bytes: 50}
	case 20:
		return ggmlType{name: "IQ4_NL", block: 32, bytes: 18}
	case 21:
		return ggmlType{name: "IQ3_S", block: 256, bytes: 110}
	case 22:
		return ggmlType{name: "IQ2_S", block: 256, bytes: 82}
	case 23:
		return ggmlType{name: "IQ4_XS", block: 256, bytes: 136}
	case 24:
		return ggmlType{name: "I8", block: 1, bytes: 1}
	case 25:
		return ggmlType{name: "I16", block: 1, bytes: 2}
	case 27:
		return ggmlType{name: "I64", block: 1, bytes: 8}
	case 28:
		return ggmlType{name: "F64", block: 1, bytes: 8}
	case 29:
		return ggmlType{name: "IQ1_M", block: 256, bytes: 56}
	case 34:
		return ggmlType{name: "TQ1_0", block: 256, bytes: 54}
	case 35:
		return ggmlType{name: "TQ2_0", block: 256, bytes: 66}
	case 39:
		return ggmlType{name: "MXFP4", block: 32, bytes: 17}
	case 40:
		return ggmlType{name: "NVFP4", block: 64, bytes: 36}
	case 41:
		return ggmlType{name: "Q1_0", block: 128, bytes: 18}
	}
	return ggmlType{name: fmt.Sprintf("ggml type %d", kind)}
}
