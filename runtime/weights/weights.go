// Package weights opens model checkpoints, whatever their format, as one thing:
// a configuration and tensors under their Hugging Face names.
//
// Files are mapped, not read: a tensor's bytes are the page cache's, in the
// compact type the file stores. Everything a file claims (counts, sizes,
// offsets) is checked against its real length before it is believed.
package weights

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unsafe"

	"github.com/coderl/cr/internal/mapfile"
	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
)

// Checkpoint is an open model. Its tensors are views of mapped files: they are
// invalid after Close. Reading from several goroutines is safe.
type Checkpoint struct {
	path       string
	files      []*mapfile.File
	tensors    map[string]stored
	config     model.Config
	vocabulary *Vocabulary
	notices    []string
}

// stored is a tensor as a file holds it.
type stored struct {
	name  string // as in the file
	file  string // base name
	dtype tensor.DType
	// foreign is the file's name for an element type with no DType; dtype and
	// data then mean nothing.
	foreign string
	shape   []int
	data    []byte
	// pairedHeads, when not 0, is the number of attention heads whose rows lie
	// in GGUF's interleaved order (see splitPairs).
	pairedHeads int
}

// Open opens a folder in Hugging Face layout (config.json beside
// model.safetensors, or model.safetensors.index.json and its shards) or a .gguf
// file. It reads the headers, not the weights. What it refuses is
// [ErrBadCheckpoint] and one of the finer errors of this package.
func Open(path string) (*Checkpoint, error) {
	c := &Checkpoint{path: path, tensors: map[string]stored{}}
	err := c.open()
	if err == nil {
		return c, nil
	}
	err = fmt.Errorf("open model %s: %w", path, err)
	if system := (*fs.PathError)(nil); !errors.As(err, &system) {
		err = refusal{err}
	}
	return nil, errors.Join(err, c.Close())
}

func (c *Checkpoint) open() error {
	info, err := os.Stat(c.path)
	if err != nil {
		return err
	}
	switch {
	case info.IsDir():
		return c.openFolder()
	case strings.HasSuffix(strings.ToLower(c.path), ".gguf"):
		return c.openGGUF()
	}
	return errors.New("neither a folder with config.json and safetensors nor a .gguf file")
}

// Config returns what the checkpoint says about its model. TieEmbeddings is the
// effective value: a checkpoint that says its embeddings are tied, yet stores
// an output projection that differs from them, counts as untied, as in
// transformers.
func (c *Checkpoint) Config() model.Config { return c.config }

// Path returns the folder or file that was opened.
func (c *Checkpoint) Path() string { return c.path }

// Vocabulary returns the tokenizer stored inside a GGUF file; nil for a folder,
// which keeps it in tokenizer.json.
func (c *Checkpoint) Vocabulary() *Vocabulary { return c.vocabulary }

// Notices returns lines a user should see: what the checkpoint says that was
// set aside. Usually empty.
func (c *Checkpoint) Notices() []string { return c.notices }

// Names returns the sorted Hugging Face names of all tensors. A tensor that has
// none keeps its name in the file.
func (c *Checkpoint) Names() []string {
	names := make([]string, 0, len(c.tensors))
	for name := range c.tensors {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Has reports whether the checkpoint stores a tensor, of whatever type.
func (c *Checkpoint) Has(name string) bool {
	_, ok := c.tensors[name]
	return ok
}

// Tensor returns a tensor by its Hugging Face name, such as
// "model.layers.3.self_attn.q_proj.weight", with shape [out, in] for a
// projection. Data is aligned to the element (to two bytes for a block) and
// must not be written to. The error is a [MissingTensorError] or an
// [UnsupportedTypeError].
func (c *Checkpoint) Tensor(name string) (tensor.Host, error) {
	s, ok := c.tensors[name]
	if !ok {
		return tensor.Host{}, refusal{fmt.Errorf("%s: %w", c.path, &MissingTensorError{Tensor: name})}
	}
	if s.foreign != "" {
		return tensor.Host{}, refusal{fmt.Errorf("%s: %w", c.path, &UnsupportedTypeError{Tensor: s.name, Type: s.foreign})}
	}
	data := s.data
	if s.pairedHeads != 0 {
		data = splitPairs(data, s.shape[0], s.pairedHeads)
	}
	return tensor.Host{DType: s.dtype, Shape: slices.Clone(s.shape), Data: aligned(data, s.dtype)}, nil
}

// Release gives the memory of tensors that were read back to the system; they
// stay valid, and are read again when they are touched.
func (c *Checkpoint) Release() error {
	var errs []error
	for _, f := range c.files {
		errs = append(errs, f.Release())
	}
	return errors.Join(errs...)
}

// Close unmaps the files.
func (c *Checkpoint) Close() error {
	var errs []error
	for _, f := range c.files {
		errs = append(errs, f.Close())
	}
	c.files = nil
	return errors.Join(errs...)
}

// mapWeights maps a weight file for the life of the checkpoint.
func (c *Checkpoint) mapWeights(path string) ([]byte, error) {
	file, err := mapfile.Open(path)
	if err != nil {
		return nil, err
	}
	c.files = append(c.files, file)
	if isPointer(file.Data) {
		return nil, ErrPointer
	}
	return file.Data, nil
}

// isPointer recognises Git LFS's stand-in, a text of about 130 bytes.
func isPointer(data []byte) bool {
	return strings.HasPrefix(string(data[:min(len(data), 64)]), "version https://git-lfs.github.com/spec/")
}

// aligned returns data, copied if a file placed it where its elements straddle
// their natural boundary: devices read elements in place.
func aligned(data []byte, dtype tensor.DType) []byte {
	elements, size := dtype.Block()
	if elements > 1 {
		size = 2
	}
	if address(data)%uintptr(size) == 0 {
		return data
	}
	return slices.Clone(data)
}

func address(data []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(data))) }
