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
	sources := make([]source, len(tensors))
	for i, t := range tensors {
		sources[i] = newSource(t.Name, t.DType, t.Shape, func(w io.Writer) error {
			if want := t.DType.Bytes(product(t.Shape)); want != len(t.Data) {
				return fmt.Errorf("tensor %s: %s%v in %d bytes", t.Name, t.DType, t.Shape, len(t.Data))
			}
			_, err := w.Write(t.Data)
			return err
		})
	}
	return writeSafetensors(path, sources)
}

// source is a tensor whose bytes are made while they are written.
type source struct {
	Name  string
	Type  string // the format's name
	width int    // bytes of an element; 0 for a type the format cannot hold
	Shape []int
	write func(io.Writer) error // width times Shape's product bytes, no more and no fewer
}

// newSource is a tensor of one of the devices' types.
func newSource(name string, dtype tensor.DType, shape []int, write func(io.Writer) error) source {
	s := source{Name: name, Type: dtype.String(), Shape: shape, write: write}
	if block, size := dtype.Block(); block == 1 {
		s.width = size
	}
	return s
}

func (s source) bytes() int { return s.width * product(s.Shape) }

func writeSafetensors(path string, sources []source) error {
	ordered := slices.Clone(sources)
	slices.SortStableFunc(ordered, func(a, b source) int {
		return cmp.Or(cmp.Compare(b.width, a.width), cmp.Compare(a.Name, b.Name))
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
			if err := t.write(w); err != nil {
				return err
			}
		}
		return nil
	})
}

// safetensorsHeader returns the length and the JSON header, padded with spaces
// to a multiple of eight. Its metadata says "pt", without which older versions
// of transformers refuse a file.
func safetensorsHeader(tensors []source) ([]byte, error) {
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

func newSafetensorsEntry(t source, offset uint64) (safetensorsEntry, error) {
	if t.width == 0 {
		return safetensorsEntry{}, &UnsupportedTypeError{Tensor: t.Name, Type: t.Type}
	}
	entry := safetensorsEntry{DType: t.Type, Shape: []uint64{}, Offsets: []uint64{offset, offset + uint64(t.bytes())}}
	for _, d := range t.Shape {
		entry.Shape = append(entry.Shape, uint64(d))
	}
	return entry, nil
}
