package weights

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/coderl/cr/internal/atomicfile"
	"github.com/coderl/cr/runtime/tensor"
)

// NamedTensor is a tensor to be written.
type NamedTensor struct {
	Name string
	tensor.Host
}

// WriteSafetensors writes a safetensors file, whole or not at all. Tensors are
// laid out as the format's own library does: widest elements first, which keeps
// every tensor aligned, then by name. Quantised types are an
// [UnsupportedTypeError], a repeated name a [DuplicateTensorError].
func WriteSafetensors(path string, tensors []NamedTensor) error {
	ordered := slices.Clone(tensors)
	slices.SortStableFunc(ordered, func(a, b NamedTensor) int {
		return cmp.Or(cmp.Compare(elementSize(b.DType), elementSize(a.DType)), cmp.Compare(a.Name, b.Name))
	})
	header, err := safetensorsHeader(ordered)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		if _, err := w.Write(header); err != nil {
			return err
		}
		for _, t := range ordered {
			if _, err := w.Write(t.Data); err != nil {
				return err
			}
		}
		return nil
	})
}

func elementSize(d tensor.DType) int {
	_, size := d.Block()
	return size
}

// safetensorsHeader returns the length and the JSON header, padded with spaces
// to a multiple of eight. Its metadata says "pt", without which older versions
// of transformers refuse a file.
func safetensorsHeader(tensors []NamedTensor) ([]byte, error) {
	header := bytes.NewBufferString(`{"__metadata__":{"format":"pt"}`)
	seen := map[string]bool{}
	offset := uint64(0)
	for _, t := range tensors {
		if seen[t.Name] || t.Name == "__metadata__" {
			return nil, &DuplicateTensorError{Tensor: t.Name, First: "the list", Second: "the list"}
		}
		seen[t.Name] = true
		entry, err := newSafetensorsEntry(t, offset)
		if err != nil {
			return nil, err
		}
		name, err := json.Marshal(t.Name)
		if err != nil {
			return nil, err
		}
		body, err := json.Marshal(entry)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(header, ",%s:%s", name, body)
		offset = entry.Offsets[1]
	}
	header.WriteByte('}')
	for header.Len()%8 != 0 {
		header.WriteByte(' ')
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(header.Len())), header.Bytes()...), nil
}

func newSafetensorsEntry(t NamedTensor, offset uint64) (safetensorsEntry, error) {
	block, size := t.DType.Block()
	if block != 1 || size == 0 {
		return safetensorsEntry{}, &UnsupportedTypeError{Tensor: t.Name, Type: t.DType.String()}
	}
	entry := safetensorsEntry{DType: t.DType.String(), Shape: []uint64{}, Offsets: []uint64{offset, offset + uint64(len(t.Data))}}
	elements := 1
	for _, d := range t.Shape {
		entry.Shape = append(entry.Shape, uint64(d))
		elements *= d
	}
	if elements*size != len(t.Data) {
		return safetensorsEntry{}, fmt.Errorf("tensor %s: %s%v in %d bytes", t.Name, t.DType, t.Shape, len(t.Data))
	}
	return entry, nil
}
