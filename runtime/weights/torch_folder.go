package weights

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coderl/cr/internal/atomicfile"
	"github.com/coderl/cr/internal/mapfile"
)

// parseTorch reads a model's .bin file: whole tensors under their names.
func parseTorch(data []byte) ([]stored, error) {
	all, err := readStateDict(data)
	if err != nil {
		return nil, err
	}
	tensors := make([]stored, len(all))
	for i, n := range all {
		if n.shard != nil {
			return nil, corrupt("tensor %s is a shard of a training checkpoint: cr merge makes a model of it", n.name)
		}
		tensors[i] = n.whole.stored(n.name)
	}
	return tensors, nil
}

// ConvertTorchFolder writes a safetensors file beside every pytorch_model*.bin
// of a folder, and an index beside an index, and returns the paths written. The
// tensors are the same bit for bit. A folder that has safetensors already, or no
// .bin, is left alone.
func ConvertTorchFolder(ctx context.Context, dir string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(dir, singleFile)); err == nil {
		return nil, nil
	}
	if _, err := os.Stat(filepath.Join(dir, torchFile)); err == nil {
		err := convertTorch(filepath.Join(dir, torchFile), filepath.Join(dir, singleFile))
		return []string{filepath.Join(dir, singleFile)}, err
	}
	return convertTorchIndex(ctx, dir)
}

// convertTorchIndex converts the shards that an index names.
func convertTorchIndex(ctx context.Context, dir string) ([]string, error) {
	var index struct {
		Metadata  map[string]any    `json:"metadata"`
		WeightMap map[string]string `json:"weight_map"`
	}
	err := readJSON(filepath.Join(dir, torchIndexFile), &index)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	shards, err := (&Checkpoint{path: dir}).shardsPresent(torchIndexFile, index.WeightMap)
	if err != nil {
		return nil, err
	}
	var written []string
	for _, shard := range shards {
		if err := ctx.Err(); err != nil {
			return written, err
		}
		to := torchToSafetensors(shard)
		if err := convertTorch(filepath.Join(dir, shard), filepath.Join(dir, to)); err != nil {
			return written, err
		}
		written = append(written, filepath.Join(dir, to))
	}
	for name, shard := range index.WeightMap {
		index.WeightMap[name] = torchToSafetensors(shard)
	}
	data, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return written, err
	}
	path := filepath.Join(dir, indexFile)
	return append(written, path), atomicfile.WriteBytes(path, data)
}

func torchToSafetensors(shard string) string {
	return strings.Replace(strings.TrimSuffix(shard, ".bin"), "pytorch_model", "model", 1) + ".safetensors"
}

// convertTorch writes one .bin file's tensors as safetensors.
func convertTorch(from, to string) error {
	file, err := mapfile.Open(from)
	if err != nil {
		return err
	}
	defer file.Close()
	tensors, err := parseTorch(file.Data)
	if err != nil {
		return fmt.Errorf("convert %s: %w", from, refusal{err})
	}
	sources := make([]source, len(tensors))
	for i, t := range tensors {
		write := func(w io.Writer) error {
			_, err := w.Write(t.data)
			return err
		}
		sources[i] = newSource(t.name, t.dtype, t.shape, write)
		if t.foreign != "" {
			// Tables of token ids and masks are kept as they are.
			sources[i].Type, sources[i].width = t.foreign, int(safetensorsBits(t.foreign)/8)
		}
	}
	return writeSafetensors(to, sources)
}

// CheckFolder verifies that a downloaded model is whole, whatever its
// architecture: no weight file is an LFS pointer, and every tensor of an index is
// in the shard that the index names. With partly, for a folder that holds a
// selection of a model's files, shards that are absent are not missed.
func CheckFolder(dir string, partly bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := checkNotPointer(dir, entry.Name()); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(dir, indexFile)); err != nil {
		return nil
	}
	c := &Checkpoint{path: dir, tensors: map[string]stored{}}
	err = c.loadIndex(indexFile)
	if partly && errors.As(err, new(*MissingShardError)) {
		err = nil
	}
	if err != nil {
		err = refusal{fmt.Errorf("check %s: %w", dir, err)}
	}
	return errors.Join(err, c.Close())
}

// checkNotPointer looks at the beginning of a weight file.
func checkNotPointer(dir, name string) error {
	if !slices.Contains([]string{".safetensors", ".bin", ".gguf", ".pt", ".pth"}, filepath.Ext(name)) {
		return nil
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	beginning := make([]byte, 64)
	n, _ := f.Read(beginning) // a file too short for this is no pointer either
	if isPointer(beginning[:n]) {
		return refusal{fmt.Errorf("%s: %w", filepath.Join(dir, name), ErrPointer)}
	}
	return nil
}
