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

// ggufReader reads little-endian values in order. The first fault sticks; what
// is read after it is zero.
type ggufReader struct {
	data   []byte
	offset int
	err    error
}

// bytes returns the next n bytes of the file, not copied.
func (r *ggufReader) bytes(n uint64) []byte {
	if r.err != nil {
		return nil
	}
	if n > uint64(len(r.data)-r.offset) {
		r.err = corrupt("truncated: %d bytes wanted at byte %d of %d", n, r.offset, len(r.data))
		return nil
	}
	start := r.offset
	r.offset += int(n)
	return r.data[start:r.offset]
}

func (r *ggufReader) uint32() uint32 {
	b := r.bytes(4)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}

func (r *ggufReader) uint64() uint64 {
	b := r.bytes(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// name reads a key or a tensor's name.
func (r *ggufReader) name() string {
	length := r.uint64()
	if r.err == nil && length > ggufNameLimit {
		r.err = corrupt("a name of %d bytes at byte %d", length, r.offset)
	}
	return string(r.bytes(length))
}

func (r *ggufReader) string() string { return string(r.bytes(r.uint64())) }

// value reads one value of a type; depth counts the arrays around it.
func (r *ggufReader) value(kind uint32, depth int) ggufValue {
	v := ggufValue{present: true, kind: kind}
	switch size := scalarSize(kind); {
	case size != 0:
		v.raw = r.bytes(uint64(size))
	case kind == ggufString:
		v.raw = r.bytes(r.uint64())
	case kind == ggufArray && depth < ggufNestingLimit:
		r.array(&v, depth)
	case r.err == nil:
		r.err = corrupt("value type %d at array depth %d", kind, depth)
	}
	return v
}

// array reads an array's header and passes over its elements, which proves that
// the file holds as many as it claims.
func (r *ggufReader) array(v *ggufValue, depth int) {
	v.element, v.count = r.uint32(), r.uint64()
	start := r.offset
	if size := uint64(scalarSize(v.element)); size != 0 {
		if r.err == nil && v.count > uint64(len(r.data))/size {
			r.err = corrupt("truncated: an array of %d values at byte %d of %d", v.count, start, len(r.data))
			return
		}
		v.raw = r.bytes(v.count * size)
		return
	}
	for i := uint64(0); i < v.count && r.err == nil; i++ {
		r.value(v.element, depth+1)
	}
	v.raw = r.data[start:r.offset]
}
