package source

import (
	"encoding/binary"
	"errors"
)

// maxWidth is how many bits a number of a hybrid may have.
const maxWidth = 32

// hybrid gives numbers of a few bits out of the format's mixture of repeated and
// bit-packed runs, one by one: a run's claimed length takes no memory.
type hybrid struct {
	data   []byte
	width  int
	left   uint64 // numbers of the run
	packed []byte // of a bit-packed run
	bit    int    // of packed that comes next
	value  uint32 // of a repeated run
}

var errHybrid = errors.New("a page ends before its levels or indices")

func (h *hybrid) next() (uint32, error) {
	for h.left == 0 {
		if err := h.turn(); err != nil {
			return 0, err
		}
	}
	h.left--
	if h.packed == nil {
		return h.value, nil
	}
	at := h.bit >> 3
	if h.bit+h.width > 8*len(h.packed) {
		return 0, errHybrid
	}
	var word [8]byte
	copy(word[:], h.packed[at:])
	v := binary.LittleEndian.Uint64(word[:]) >> (h.bit & 7) & (1<<h.width - 1)
	h.bit += h.width
	return uint32(v), nil
}

// turn begins the next run.
func (h *hybrid) turn() error {
	if h.width == 0 {
		h.left, h.packed, h.value = 1, nil, 0
		return nil
	}
	header, n := binary.Uvarint(h.data)
	if n <= 0 {
		return errHybrid
	}
	h.data = h.data[n:]
	size := uint64(h.width+7) / 8
	h.left = header >> 1
	if header&1 == 1 {
		// A last run may lack the bytes that only fill it up.
		size = min(h.left, uint64(len(h.data))) * uint64(h.width)
		size = min(size, uint64(len(h.data)))
		h.left *= 8
		h.packed, h.bit, h.data = h.data[:size], 0, h.data[size:]
		return nil
	}
	if size > uint64(len(h.data)) {
		return errHybrid
	}
	var word [4]byte
	copy(word[:], h.data[:size])
	h.packed, h.value, h.data = nil, binary.LittleEndian.Uint32(word[:]), h.data[size:]
	return nil
}
