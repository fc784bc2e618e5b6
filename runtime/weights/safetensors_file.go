package weights

import (
	"fmt"

	"github.com/coderl/cr/internal/mapfile"
	"github.com/coderl/cr/runtime/tensor"
)

// SafetensorsFile is an open file of tensors that need not be a model's: an
// optimiser's state, an adapter. Its tensors are views of the mapped file.
type SafetensorsFile struct {
	file    *mapfile.File
	tensors map[string]stored
}

// OpenSafetensors maps a file and reads its header.
func OpenSafetensors(path string) (*SafetensorsFile, error) {
	file, err := mapfile.Open(path)
	if err != nil {
		return nil, err
	}
	list, err := parseSafetensors(file.Data)
	if err != nil {
		_ = file.Close() // the header's fault says more
		return nil, refusal{fmt.Errorf("%s: %w", path, err)}
	}
	s := &SafetensorsFile{file: file, tensors: map[string]stored{}}
	for _, t := range list {
		s.tensors[t.name] = t
	}
	return s, nil
}

// Len returns how many tensors there are.
func (s *SafetensorsFile) Len() int { return len(s.tensors) }

// Tensor returns one by its name. The error is a [MissingTensorError] or an
// [UnsupportedTypeError].
func (s *SafetensorsFile) Tensor(name string) (tensor.Host, error) {
	t, ok := s.tensors[name]
	switch {
	case !ok:
		return tensor.Host{}, refusal{&MissingTensorError{Tensor: name}}
	case t.foreign != "":
		return tensor.Host{}, refusal{&UnsupportedTypeError{Tensor: name, Type: t.foreign}}
	}
	return tensor.Host{DType: t.dtype, Shape: t.shape, Data: aligned(t.data, t.dtype)}, nil
}

// Close unmaps the file.
func (s *SafetensorsFile) Close() error { return s.file.Close() }
