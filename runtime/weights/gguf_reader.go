package weights

import "encoding/binary"

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
