package weights

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/coderl/cr/runtime/tensor"
)

// Limits on what a header may claim. The format itself stops at 100 MB.
const (
	safetensorsHeaderLimit = 100_000_000
	rankLimit              = 8
)

// safetensorsBits returns the size of an element of one of the format's types,
// 0 for a type it does not know.
func safetensorsBits(dtype string) uint64 {
	switch dtype {
	case "F64", "I64", "U64", "C64":
		return 64
	case "F32", "I32", "U32":
		return 32
	case "F16", "BF16", "I16", "U16":
		return 16
	case "I8", "U8", "BOOL", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ":
		return 8
	case "F6_E2M3", "F6_E3M2":
		return 6
	case "F4":
		return 4
	}
	return 0
}

// safetensorsEntry is one tensor of the JSON header. Offsets count bytes from
// the end of the header.
type safetensorsEntry struct {
	DType   string   `json:"dtype"`
	Shape   []uint64 `json:"shape"`
	Offsets []uint64 `json:"data_offsets"`
	name    string
}

// parseSafetensors reads the layout of a file: eight bytes of header length
// (little-endian), a JSON header, then the tensors' bytes without gap, overlap
// or rest.
func parseSafetensors(data []byte) ([]stored, error) {
	if len(data) < 8 {
		return nil, corrupt("%d bytes, shorter than a header", len(data))
	}
	length := binary.LittleEndian.Uint64(data)
	if length > safetensorsHeaderLimit {
		return nil, corrupt("header of %d bytes, the format allows %d", length, safetensorsHeaderLimit)
	}
	if length > uint64(len(data)-8) {
		return nil, corrupt("truncated: header of %d bytes in a file of %d", length, len(data))
	}
	entries, err := parseSafetensorsHeader(data[8 : 8+length])
	if err != nil {
		return nil, err
	}
	return placeSafetensors(entries, data[8+length:])
}

// parseSafetensorsHeader walks the object by hand, because decoding into a map
// would silently keep the last of two equal names.
func parseSafetensorsHeader(header []byte) ([]safetensorsEntry, error) {
	decoder := json.NewDecoder(bytes.NewReader(header))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, corrupt("header is not a JSON object")
	}
	var entries []safetensorsEntry
	seen := map[string]bool{}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, corrupt("header: %v", err)
		}
		name, _ := key.(string)
		if seen[name] {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, &DuplicateTensorError{Tensor: name, First: "the header", Second: "the header"})
		}
		seen[name] = true
		entry := safetensorsEntry{name: name}
		var into any = &entry
		if name == "__metadata__" {
			into = &map[string]string{}
		}
		if err := decoder.Decode(into); err != nil {
			return nil, corrupt("header: %q: %v", name, err)
		}
		if name != "__metadata__" {
			entries = append(entries, entry)
		}
	}
	if _, err := decoder.Token(); err != nil {
		return nil, corrupt("header: %v", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, corrupt("header: more than one JSON value")
	}
	return entries, nil
}

// placeSafetensors cuts the tensors out of the body, in the order of the file.
func placeSafetensors(entries []safetensorsEntry, body []byte) ([]stored, error) {
	for _, e := range entries {
		switch {
		case len(e.Offsets) != 2 || e.Offsets[0] > e.Offsets[1]:
			return nil, corrupt("tensor %s: data_offsets %v", e.name, e.Offsets)
		case e.DType == "":
			return nil, corrupt("tensor %s: no dtype", e.name)
		}
	}
	slices.SortFunc(entries, func(a, b safetensorsEntry) int {
		return cmp.Or(cmp.Compare(a.Offsets[0], b.Offsets[0]), cmp.Compare(a.Offsets[1], b.Offsets[1]))
	})
	tensors := make([]stored, 0, len(entries))
	end := uint64(0)
	for _, e := range entries {
		switch {
		case e.Offsets[0] < end:
			return nil, corrupt("tensor %s overlaps the one before it", e.name)
		case e.Offsets[0] > end:
			return nil, corrupt("%d unused bytes before tensor %s", e.Offsets[0]-end, e.name)
		case e.Offsets[1] > uint64(len(body)):
			return nil, corrupt("truncated: tensor %s ends at byte %d of %d", e.name, e.Offsets[1], len(body))
		}
		end = e.Offsets[1]
		s, err := e.cut(body)
		if err != nil {
			return nil, err
		}
		tensors = append(tensors, s)
	}
	if end != uint64(len(body)) {
		return nil, corrupt("%d bytes after the last tensor", uint64(len(body))-end)
	}
	return tensors, nil
}

func (e safetensorsEntry) cut(body []byte) (stored, error) {
	bits := safetensorsBits(e.DType)
	if bits == 0 {
		return stored{name: e.name, foreign: e.DType}, nil
	}
	shape, elements, err := checkedShape(e.name, e.Shape)
	if err != nil {
		return stored{}, err
	}
	size := e.Offsets[1] - e.Offsets[0]
	if elements > math.MaxInt64/64 || uint64(elements)*bits != size*8 {
		return stored{}, corrupt("tensor %s: %s%v in %d bytes", e.name, e.DType, shape, size)
	}
	s := stored{name: e.name, shape: shape, data: body[e.Offsets[0]:e.Offsets[1]:e.Offsets[1]]}
	switch e.DType {
	case "F32":
		s.dtype = tensor.F32
	case "F16":
		s.dtype = tensor.F16
	case "BF16":
		s.dtype = tensor.BF16
	case "I32":
		s.dtype = tensor.I32
	default:
		s.foreign = e.DType
	}
	return s, nil
}

// checkedShape turns a claimed shape into ints and their product, refusing
// ranks and sizes no file can hold.
func checkedShape(name string, claimed []uint64) (shape []int, elements int, err error) {
	if len(claimed) > rankLimit {
		return nil, 0, corrupt("tensor %s: %d dimensions", name, len(claimed))
	}
	shape, elements = make([]int, len(claimed)), 1
	for i, d := range claimed {
		if d > math.MaxInt32*64 || (d != 0 && elements > math.MaxInt64/int(d)) {
			return nil, 0, corrupt("tensor %s: shape %v", name, claimed)
		}
		shape[i] = int(d)
		elements *= int(d)
	}
	return shape, elements, nil
}
