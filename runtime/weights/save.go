package weights

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coderl/cr/internal/atomicfile"
	"github.com/coderl/cr/runtime/tensor"
)

// Unwritten is a tensor whose bytes are made while they are written.
type Unwritten struct {
	Name  string
	DType tensor.DType // F32, F16 or BF16
	Shape []int
	// Write writes all elements, row-major and little-endian.
	Write func(w io.Writer) error
}

// WriteTensors writes a safetensors file, whole or not at all, as
// [WriteSafetensors] does.
func WriteTensors(path string, tensors []Unwritten) error {
	return writeSafetensors(path, sourcesOf(tensors))
}

func sourcesOf(tensors []Unwritten) []source {
	sources := make([]source, len(tensors))
	for i, t := range tensors {
		sources[i] = newSource(t.Name, t.DType, t.Shape, t.Write)
	}
	return sources
}

// SaveModel writes a model in Hugging Face layout into a folder that exists:
// model.safetensors, or shards of 5 GB and their index, and the files beside.
// Each file appears whole or not at all.
func SaveModel(ctx context.Context, dir string, tensors []Unwritten, beside *SideFiles) error {
	sources, total := sourcesOf(tensors), int64(0)
	for _, s := range sources {
		total += int64(s.bytes())
	}
	if err := writeModel(ctx, dir, group(sources, defaultShardBytes), total); err != nil {
		return fmt.Errorf("save model %s: %w", dir, err)
	}
	if err := beside.writeTo(dir); err != nil {
		return fmt.Errorf("save model %s: %w", dir, err)
	}
	return nil
}

// SideFiles are the files beside a model's weights: config.json, the tokenizer,
// the chat template, generation_config.json.
type SideFiles struct {
	files  sideFiles
	making map[string][]byte // those with no file to copy
}

// ReadSideFiles lists the files beside the weights of a folder. All of them are
// carried over byte for byte, but for what [SideFiles.SetDType] changes. Files
// that mean nothing to a model, such as a training run's state, stay behind.
func ReadSideFiles(dir string) (*SideFiles, error) {
	files, err := readSideFiles(dir)
	files.others = slices.DeleteFunc(files.others, func(name string) bool { return !besideModel(name) })
	return &SideFiles{files: files}, err
}

// besideModel recognises the names of tokenizers and their like.
func besideModel(name string) bool {
	for _, prefix := range []string{"tokenizer", "chat_template", "LICENSE"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains([]string{
		"generation_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json", "vocab.txt", "merges.txt",
	}, name)
}

// DType is the element type that config.json names: "float32"; empty for none.
func (s *SideFiles) DType() (string, error) { return s.files.dtype() }

// SetDType makes config.json name the element type that is written.
func (s *SideFiles) SetDType(dtype tensor.DType) error {
	names := map[tensor.DType]string{tensor.F32: "float32", tensor.F16: "float16", tensor.BF16: "bfloat16"}
	name, ok := names[dtype]
	if !ok {
		return fmt.Errorf("config.json cannot name the element type %s", dtype)
	}
	return s.files.setDType(name)
}

func (s *SideFiles) writeTo(dir string) error {
	for name, content := range s.making {
		if err := atomicfile.WriteBytes(filepath.Join(dir, name), content); err != nil {
			return err
		}
	}
	return s.files.copyTo(dir)
}

// Export writes a checkpoint as a model in Hugging Face layout with every weight
// in one element type, F32 or BF16: quantised ones are expanded. F32 holds each
// of their values exactly. The folder out appears whole or not at all; it must
// not exist, or be empty.
func Export(ctx context.Context, c *Checkpoint, out string, dtype tensor.DType, beside *SideFiles) error {
	if err := emptyOrAbsent(out); err != nil {
		return err
	}
	if err := beside.SetDType(dtype); err != nil {
		return err
	}
	var tensors []Unwritten
	for _, name := range decoderTensors(c) {
		h, err := c.Tensor(name)
		if err != nil {
			return err
		}
		tensors = append(tensors, Unwritten{Name: name, DType: dtype, Shape: h.Shape, Write: func(w io.Writer) error {
			return writeExpanded(w, h, dtype)
		}})
	}
	return intoFolder(out, func(dir string) error { return SaveModel(ctx, dir, tensors, beside) })
}

// decoderTensors are the names of a checkpoint that are part of its decoder: an
// output projection that is tied is not.
func decoderTensors(c *Checkpoint) []string {
	return slices.DeleteFunc(c.Names(), func(name string) bool {
		return decoderShape(name, c.config) == nil || name == outputHead && c.config.TieEmbeddings
	})
}

// writeExpanded writes a weight in another type, some thousand values at a time.
func writeExpanded(w io.Writer, h tensor.Host, to tensor.DType) error {
	for stretch := range slices.Chunk(h.Data, h.DType.Bytes(convertChunk)) {
		block, size := h.DType.Block()
		part, err := Convert(tensor.Host{DType: h.DType, Shape: []int{len(stretch) / size * block}, Data: stretch}, to)
		if err != nil {
			return err
		}
		if _, err := w.Write(part.Data); err != nil {
			return err
		}
	}
	return nil
}

// intoFolder fills a folder beside its place and moves it there whole.
func intoFolder(out string, fill func(dir string) error) error {
	parent := filepath.Dir(filepath.Clean(out))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(parent, ".model-*")
	if err != nil {
		return err
	}
	if err = fill(temp); err == nil {
		err = os.Chmod(temp, 0o755)
	}
	if err == nil {
		// An empty folder in its place gives way.
		if err = os.Remove(out); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = os.Rename(temp, out)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	return nil
}
