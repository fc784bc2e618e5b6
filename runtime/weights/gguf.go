package weights

import (
	"fmt"
	"path/filepath"
)

// Limits on what a GGUF header may claim, far above real files. The file's
// length bounds every count besides.
const (
	ggufMetadataLimit  = 1 << 16
	ggufTensorLimit    = 1 << 17
	ggufNameLimit      = 1<<16 - 1 // the format's own, for keys
	ggufRankLimit      = 4
	ggufAlignmentLimit = 1 << 20
	ggufNestingLimit   = 4
)

// ggufFile is a parsed GGUF header: metadata, and the tensors under their names
// in the file.
type ggufFile struct {
	metadata map[string]ggufValue
	tensors  []stored
}

// openGGUF maps the file and gives its tensors their Hugging Face names.
func (c *Checkpoint) openGGUF() error {
	data, err := c.mapWeights(c.path)
	if err != nil {
		return err
	}
	file, err := parseGGUF(data)
	if err != nil {
		return err
	}
	return c.interpretGGUF(file)
}

// interpretGGUF makes a header's tensors and metadata the checkpoint's.
func (c *Checkpoint) interpretGGUF(file *ggufFile) (err error) {
	if err := c.addGGUF(file); err != nil {
		return err
	}
	if c.vocabulary, err = readVocabulary(file.metadata); err != nil {
		return err
	}
	if c.config, err = c.ggufConfig(file); err != nil {
		return err
	}
	if v := c.vocabulary; v != nil && len(v.Tokens) > c.config.Vocab {
		return corrupt("%d tokens, but %d embeddings", len(v.Tokens), c.config.Vocab)
	}
	if err := c.checkShapes(); err != nil {
		return err
	}
	return c.markPaired()
}

func (c *Checkpoint) addGGUF(file *ggufFile) error {
	for _, s := range file.tensors {
		s.file = filepath.Base(c.path)
		name := s.name
		if translated, ok := huggingFaceName(s.name); ok {
			name = translated
		}
		if err := c.add(name, s); err != nil {
			return err
		}
	}
	return nil
}

// parseGGUF reads the layout of a file: magic, version, the two counts, the
// metadata, the tensor descriptions, and the tensors' bytes, each aligned.
// Format: the ggml project's docs/gguf.md, versions 2 and 3.
func parseGGUF(data []byte) (*ggufFile, error) {
	r := &ggufReader{data: data}
	magic, version := r.bytes(4), r.uint32()
	switch {
	case r.err != nil || string(magic) != "GGUF":
		return nil, corrupt("not a GGUF file: it does not begin with GGUF")
	case version == 2<<24 || version == 3<<24:
		return nil, fmt.Errorf("big-endian GGUF is not supported")
	case version != 2 && version != 3:
		return nil, fmt.Errorf("GGUF version %d is not supported: versions 2 and 3 are", version)
	}
	tensorCount, metadataCount := r.uint64(), r.uint64()
	file := &ggufFile{}
	var err error
	if file.metadata, err = readMetadata(r, metadataCount); err != nil {
		return nil, err
	}
	if split, ok := file.metadata["split.count"].uint(); ok && split > 1 {
		return nil, fmt.Errorf("this is one of %d parts of a split GGUF: join them with llama-gguf-split --merge", split)
	}
	alignment, err := ggufAlignment(file.metadata)
	if err != nil {
		return nil, err
	}
	placed, err := readDescriptions(r, tensorCount)
	if err != nil {
		return nil, err
	}
	file.tensors, err = placeGGUF(placed, data, r.offset, alignment)
	return file, err
}

func readMetadata(r *ggufReader, count uint64) (map[string]ggufValue, error) {
	if count > ggufMetadataLimit {
		return nil, corrupt("%d metadata entries, at most %d are allowed", count, ggufMetadataLimit)
	}
	metadata := map[string]ggufValue{}
	for i := uint64(0); i < count; i++ {
		key := r.name()
		value := r.value(r.uint32(), 0)
		if r.err != nil {
			return nil, fmt.Errorf("metadata entry %d of %d (%.60q): %w", i+1, count, key, r.err)
		}
		if _, twice := metadata[key]; twice {
			return nil, corrupt("metadata key %.60q appears twice", key)
		}
		metadata[key] = value
	}
	return metadata, nil
}

func ggufAlignment(metadata map[string]ggufValue) (int, error) {
	value, stated := metadata["general.alignment"]
	if !stated {
		return 32, nil
	}
	alignment, ok := value.uint()
	if !ok || alignment == 0 || alignment > ggufAlignmentLimit || alignment&(alignment-1) != 0 {
		return 0, corrupt("general.alignment is not a power of two up to %d", ggufAlignmentLimit)
	}
	return int(alignment), nil
}
