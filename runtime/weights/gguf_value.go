package weights

import (
	"encoding/binary"
	"math"
)

// The value types of GGUF metadata.
const (
	ggufUint8 uint32 = iota
	ggufInt8
	ggufUint16
	ggufInt16
	ggufUint32
	ggufInt32
	ggufFloat32
	ggufBool
	ggufString
	ggufArray
	ggufUint64
	ggufInt64
	ggufFloat64
)

// ggufValue is a metadata value, kept as its bytes in the file until somebody
// asks for it: a reader of headers pays for no vocabulary. The zero value is an
// absent key.
type ggufValue struct {
	present bool
	kind    uint32
	raw     []byte // for a string its text, for an array its elements
	element uint32 // of an array
	count   uint64 // of an array
}

// scalarSize returns the bytes of a fixed-size value type, else 0.
func scalarSize(kind uint32) int {
	switch kind {
	case ggufUint8, ggufInt8, ggufBool:
		return 1
	case ggufUint16, ggufInt16:
		return 2
	case ggufUint32, ggufInt32, ggufFloat32:
		return 4
	case ggufUint64, ggufInt64, ggufFloat64:
		return 8
	}
	return 0
}

// int reads any integer type, refusing what int64 cannot hold.
func (v ggufValue) int() (int64, bool) {
	switch {
	case !v.present:
		return 0, false
	case v.kind == ggufUint8:
		return int64(v.raw[0]), true
	case v.kind == ggufInt8:
		return int64(int8(v.raw[0])), true
	case v.kind == ggufUint16:
		return int64(binary.LittleEndian.Uint16(v.raw)), true
	case v.kind == ggufInt16:
		return int64(int16(binary.LittleEndian.Uint16(v.raw))), true
	case v.kind == ggufUint32:
		return int64(binary.LittleEndian.Uint32(v.raw)), true
	case v.kind == ggufInt32:
		return int64(int32(binary.LittleEndian.Uint32(v.raw))), true
	case v.kind == ggufInt64:
		return int64(binary.LittleEndian.Uint64(v.raw)), true
	case v.kind == ggufUint64:
		n := binary.LittleEndian.Uint64(v.raw)
		return int64(n), n <= math.MaxInt64
	}
	return 0, false
}

// uint reads an integer that is not negative.
func (v ggufValue) uint() (uint64, bool) {
	n, ok := v.int()
	return uint64(n), ok && n >= 0
}

// float reads either floating type.
func (v ggufValue) float() (float64, bool) {
	switch {
	case v.present && v.kind == ggufFloat32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(v.raw))), true
	case v.present && v.kind == ggufFloat64:
		return math.Float64frombits(binary.LittleEndian.Uint64(v.raw)), true
	}
	return 0, false
}

func (v ggufValue) bool() (value, ok bool) {
	if !v.present || v.kind != ggufBool {
		return false, false
	}
	return v.raw[0] != 0, true
}

func (v ggufValue) string() (string, bool) {
	return string(v.raw), v.present && v.kind == ggufString
}

// strings reads an array of strings. Its bounds were checked when it was read.
func (v ggufValue) strings() ([]string, bool) {
	if v.kind != ggufArray || v.element != ggufString {
		return nil, false
	}
	r := &ggufReader{data: v.raw}
	values := make([]string, v.count)
	for i := range values {
		values[i] = r.string()
	}
	return values, r.err == nil
}

// length returns the number of elements of an array of a fixed-size type.
func (v ggufValue) length() int {
	if v.kind != ggufArray || scalarSize(v.element) == 0 {
		return 0
	}
	return int(v.count)
}

// at returns element i of an array of a fixed-size type.
func (v ggufValue) at(i int) ggufValue {
	size := scalarSize(v.element)
	return ggufValue{present: true, kind: v.element, raw: v.raw[i*size : (i+1)*size]}
}
