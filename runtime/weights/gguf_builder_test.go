package weights

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"testing"
)

// ggufBuilder writes GGUF files by the letter of the format, wrong ones too.
type ggufBuilder struct {
	version             uint32
	metadata, tensors   []byte
	metadataN, tensorsN uint64
}

func newGGUF() *ggufBuilder { return &ggufBuilder{version: 3} }

func ggufText(s string) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(s))), s...)
}

func (b *ggufBuilder) raw(key string, kind uint32, value []byte) *ggufBuilder {
	b.metadataN++
	b.metadata = append(b.metadata, ggufText(key)...)
	b.metadata = append(binary.LittleEndian.AppendUint32(b.metadata, kind), value...)
	return b
}

func (b *ggufBuilder) text(key, value string) *ggufBuilder {
	return b.raw(key, ggufString, ggufText(value))
}

func (b *ggufBuilder) number(key string, value uint32) *ggufBuilder {
	return b.raw(key, ggufUint32, binary.LittleEndian.AppendUint32(nil, value))
}

func (b *ggufBuilder) real(key string, value float32) *ggufBuilder {
	return b.raw(key, ggufFloat32, binary.LittleEndian.AppendUint32(nil, math.Float32bits(value)))
}

func (b *ggufBuilder) array(key string, kind uint32, count uint64, values []byte) *ggufBuilder {
	head := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, kind), count)
	return b.raw(key, ggufArray, append(head, values...))
}

// tensor describes one tensor; dimensions are fastest first, as in the file.
func (b *ggufBuilder) tensor(name string, kind uint32, offset uint64, dims ...uint64) *ggufBuilder {
	b.tensorsN++
	b.tensors = append(b.tensors, ggufText(name)...)
	b.tensors = binary.LittleEndian.AppendUint32(b.tensors, uint32(len(dims)))
	for _, d := range dims {
		b.tensors = binary.LittleEndian.AppendUint64(b.tensors, d)
	}
	b.tensors = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(b.tensors, kind), offset)
	return b
}

func (b *ggufBuilder) bytes(body int) []byte {
	file := append([]byte("GGUF"), binary.LittleEndian.AppendUint32(nil, b.version)...)
	file = binary.LittleEndian.AppendUint64(file, b.tensorsN)
	file = binary.LittleEndian.AppendUint64(file, b.metadataN)
	file = append(append(file, b.metadata...), b.tensors...)
	return append(file, make([]byte, (32-len(file)%32)%32+body)...)
}

// tinyLlama has hidden size 32, 4 heads of 8 and no layer tensors.
func tinyLlama() *ggufBuilder {
	return newGGUF().text("general.architecture", "llama").number("llama.embedding_length", 32).
		number("llama.block_count", 1).number("llama.attention.head_count", 4).number("llama.feed_forward_length", 32).
		number("llama.context_length", 64).tensor("token_embd.weight", 0, 0, 32, 4)
}

func openGGUFBytes(t *testing.T, file []byte) (*Checkpoint, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.gguf")
	writeFile(t, path, string(file))
	c, err := Open(path)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}
