package weights

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/coderl/cr/internal/pickle"
	"github.com/coderl/cr/runtime/tensor"
)

// Limits on the pickle inside a torch file: the largest real ones hold some
// 30,000 tensors.
const (
	torchPickleBytes = 64 << 20
	torchValues      = 4 << 20
	torchMemo        = 2 << 20
	// torchAliases is how many times over tensors may share the bytes of a file.
	// Tied weights share them twice.
	torchAliases = 4
)

// torchArchive is a file that torch.save wrote: a ZIP of uncompressed entries,
// one pickle that describes the tensors and one entry for each storage.
type torchArchive struct {
	data     []byte // the whole file
	entries  map[string]*zip.File
	prefix   string // the folder all entries are in
	storages map[string]*torchStorage
}

// torchStorage is the bytes behind one or more tensors.
type torchStorage struct {
	dtype    tensor.DType
	foreign  string // safetensors' name for a type with no DType
	width    int    // bytes of an element
	elements int64
	data     []byte
}

// readTorch returns what torch.save saved, with *torchTensor and
// *torchObject for what torch's own classes would be. Tensors are views of data.
func readTorch(data []byte) (any, error) {
	if isLegacyTorch(data) {
		return nil, corrupt("torch's format from before version 1.6: save it again with a newer torch")
	}
	archive, err := openTorch(data)
	if err != nil {
		return nil, err
	}
	program, err := archive.read("data.pkl")
	if err != nil {
		return nil, err
	}
	if order, err := archive.read("byteorder"); err == nil && string(order) != "little" {
		return nil, corrupt("byte order %.20q", order)
	}
	v, err := pickle.Decode(program, pickle.Options{
		Globals:    torchGlobals(),
		Persistent: archive.persistent,
		Limits:     pickle.Limits{Bytes: torchPickleBytes, Values: torchValues, Memo: torchMemo},
	})
	if err != nil {
		return nil, fmt.Errorf("%w: data.pkl: %w", ErrCorrupt, err)
	}
	return v, nil
}

// isLegacyTorch recognises the magic number that old files begin with, as a
// pickle of protocol 2.
func isLegacyTorch(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."))
}

// openTorch reads the ZIP's directory.
func openTorch(data []byte) (*torchArchive, error) {
	reader, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, corrupt("not a torch file: %v", err)
	}
	a := &torchArchive{data: data, entries: map[string]*zip.File{}, storages: map[string]*torchStorage{}}
	for _, f := range reader.File {
		if _, twice := a.entries[f.Name]; twice {
			return nil, corrupt("entry %.80q twice", f.Name)
		}
		a.entries[f.Name] = f
		if prefix, found := strings.CutSuffix(f.Name, "data.pkl"); found {
			a.prefix = prefix
		}
	}
	return a, nil
}

// read returns an entry's bytes as they lie in the file. A compressed entry is
// refused: torch writes none, and it could be a bomb.
func (a *torchArchive) read(name string) ([]byte, error) {
	f := a.entries[a.prefix+name]
	if f == nil {
		return nil, corrupt("no entry %.80q", name)
	}
	start, err := f.DataOffset()
	if err != nil {
		return nil, corrupt("entry %.80q: %v", name, err)
	}
	size := f.UncompressedSize64
	if f.Method != zip.Store || f.CompressedSize64 != size {
		return nil, corrupt("entry %.80q is compressed", name)
	}
	if start < 0 || uint64(start) > uint64(len(a.data)) || size > uint64(len(a.data))-uint64(start) {
		return nil, fmt.Errorf("entry %.80q: %w: %w", name, ErrCorrupt, io.ErrUnexpectedEOF)
	}
	return a.data[start : uint64(start)+size : uint64(start)+size], nil
}

// persistent resolves ("storage", class, key, device, elements).
func (a *torchArchive) persistent(id any) (any, error) {
	t, _ := id.(pickle.Tuple)
	if len(t) != 5 || t[0] != "storage" {
		return nil, fmt.Errorf("not a storage: %s", pickle.Describe(id))
	}
	class, ok1 := t[1].(pickle.Global)
	key, ok2 := t[2].(string)
	elements, ok3 := t[4].(int64)
	if !ok1 || !ok2 || !ok3 || elements < 0 {
		return nil, fmt.Errorf("not a storage: %s", pickle.Describe(id))
	}
	if known := a.storages[key]; known != nil {
		return known, nil
	}
	s, err := newTorchStorage(class, elements)
	if err != nil {
		return nil, err
	}
	if s.data, err = a.read("data/" + key); err != nil {
		return nil, err
	}
	if width := int64(s.width); elements > int64(len(s.data))/width || elements*width != int64(len(s.data)) {
		return nil, fmt.Errorf("storage %s: %d elements of %d bytes in %d", strconv.Quote(key), elements, width, len(s.data))
	}
	a.storages[key] = s
	return s, nil
}

// newTorchStorage knows an element type by its storage class.
func newTorchStorage(class pickle.Global, elements int64) (*torchStorage, error) {
	s := &torchStorage{elements: elements}
	switch class.Name {
	case "FloatStorage":
		s.dtype, s.width = tensor.F32, 4
	case "HalfStorage":
		s.dtype, s.width = tensor.F16, 2
	case "BFloat16Storage":
		s.dtype, s.width = tensor.BF16, 2
	case "IntStorage":
		s.dtype, s.width = tensor.I32, 4
	case "DoubleStorage":
		s.foreign, s.width = "F64", 8
	case "LongStorage":
		s.foreign, s.width = "I64", 8
	case "ShortStorage":
		s.foreign, s.width = "I16", 2
	case "CharStorage":
		s.foreign, s.width = "I8", 1
	case "ByteStorage":
		s.foreign, s.width = "U8", 1
	case "BoolStorage":
		s.foreign, s.width = "BOOL", 1
	}
	if class.Module != "torch" || s.width == 0 {
		return nil, fmt.Errorf("storage class %s.%s", class.Module, class.Name)
	}
	return s, nil
}
