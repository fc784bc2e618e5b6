package weights

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/coderl/cr/runtime/model"
)

// The files of the Hugging Face layout.
const (
	singleFile     = "model.safetensors"
	indexFile      = "model.safetensors.index.json"
	torchFile      = "pytorch_model.bin"
	torchIndexFile = "pytorch_model.bin.index.json"
)

// jsonLimit bounds the JSON files beside the weights; real ones stay below 2 MB.
const jsonLimit = 64 << 20

// openFolder prefers a single file over an index, as transformers does, and
// safetensors over torch's pickles.
func (c *Checkpoint) openFolder() error {
	load := c.loader()
	if load == nil {
		return fmt.Errorf("no %s and no %s in the folder", singleFile, indexFile)
	}
	config, err := readFolderConfig(c.path)
	if err != nil {
		return err
	}
	c.config = config
	if err := load(); err != nil {
		return err
	}
	if err := c.checkShapes(); err != nil {
		return err
	}
	return c.resolveTie()
}

// loader returns how the folder's weights are read; nil where there are none.
func (c *Checkpoint) loader() func() error {
	here := func(name string) bool {
		_, err := os.Stat(filepath.Join(c.path, name))
		return err == nil
	}
	switch {
	case here(singleFile):
		return func() error { return c.loadShard(singleFile, nil) }
	case here(indexFile):
		return func() error { return c.loadIndex(indexFile) }
	case here(torchFile):
		return func() error { return c.loadShard(torchFile, nil) }
	case here(torchIndexFile):
		return func() error { return c.loadIndex(torchIndexFile) }
	}
	return nil
}

// loadIndex loads the tensors that the index lists, each from its shard alone.
func (c *Checkpoint) loadIndex(indexFile string) error {
	var index struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := readJSON(filepath.Join(c.path, indexFile), &index); err != nil {
		return err
	}
	if len(index.WeightMap) == 0 {
		return fmt.Errorf("%s: %w", indexFile, corrupt("no weight_map"))
	}
	shards, err := c.shardsPresent(indexFile, index.WeightMap)
	if err != nil {
		return err
	}
	for _, shard := range shards {
		if err := c.loadShard(shard, index.WeightMap); err != nil {
			return err
		}
	}
	return c.checkIndexed(index.WeightMap)
}

// shardsPresent returns the sorted shard names, after checking that each is a
// plain name and a file of the folder.
func (c *Checkpoint) shardsPresent(indexFile string, weightMap map[string]string) ([]string, error) {
	var shards []string
	for _, shard := range weightMap {
		shards = append(shards, shard)
	}
	slices.Sort(shards)
	shards = slices.Compact(shards)
	for _, shard := range shards {
		if shard != filepath.Base(shard) || !filepath.IsLocal(shard) {
			return nil, fmt.Errorf("%s: %w", indexFile, corrupt("shard %q is not a plain file name", shard))
		}
		if _, err := os.Stat(filepath.Join(c.path, shard)); errors.Is(err, fs.ErrNotExist) {
			return nil, &MissingShardError{Shard: shard}
		}
	}
	return shards, nil
}

// loadShard takes a file's tensors. With an index, tensors that it does not
// list are left alone.
func (c *Checkpoint) loadShard(file string, weightMap map[string]string) error {
	data, err := c.mapWeights(filepath.Join(c.path, file))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	tensors, err := parseWeights(file, data)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, s := range tensors {
		if _, listed := weightMap[s.name]; weightMap != nil && !listed {
			continue
		}
		s.file = file
		if err := c.add(s.name, s); err != nil {
			return err
		}
	}
	return nil
}

// parseWeights reads a file of tensors by the format that its name tells.
func parseWeights(file string, data []byte) ([]stored, error) {
	if filepath.Ext(file) == ".bin" {
		return parseTorch(data)
	}
	return parseSafetensors(data)
}

// checkIndexed verifies that every tensor came from the shard the index names.
func (c *Checkpoint) checkIndexed(weightMap map[string]string) error {
	var misplaced []string
	for name, shard := range weightMap {
		if c.tensors[name].file != shard {
			misplaced = append(misplaced, name)
		}
	}
	if len(misplaced) == 0 {
		return nil
	}
	name := slices.Min(misplaced)
	return &MissingTensorError{Tensor: name, Shard: weightMap[name]}
}

func (c *Checkpoint) add(name string, s stored) error {
	if first, ok := c.tensors[name]; ok {
		return &DuplicateTensorError{Tensor: name, First: first.file, Second: s.file}
	}
	c.tensors[name] = s
	return nil
}

// readJSON decodes a JSON file of the folder, refusing absurd sizes.
func readJSON(path string, into any) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	if info.Size() > jsonLimit {
		return fmt.Errorf("%s: %w", name, corrupt("%d bytes of JSON", info.Size()))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if isPointer(data) {
		return fmt.Errorf("%s: %w", name, ErrPointer)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// ReadConfig reads the configuration of a folder in Hugging Face layout that
// need not hold weights yet.
func ReadConfig(dir string) (model.Config, error) {
	c, err := readFolderConfig(dir)
	if err != nil {
		err = fmt.Errorf("read %s: %w", dir, err)
		if system := (*fs.PathError)(nil); !errors.As(err, &system) {
			err = refusal{err}
		}
	}
	return c, err
}
