package weights

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
)

// Sampled per tensor: this many stretches of this many bytes.
const (
	fingerprintStretches = 8
	fingerprintBytes     = 512
)

// Fingerprint identifies the weights: a SHA-256 over every tensor's name, type,
// shape, and stretches of its bytes spread evenly. It reads a few kilobytes a
// tensor, so it is quick on any size, and any training step changes it; it is no
// proof against somebody who edits weights to keep it.
func (c *Checkpoint) Fingerprint() string {
	h := sha256.New()
	for _, name := range c.Names() {
		t := c.tensors[name]
		h.Write([]byte(name))
		h.Write([]byte{0, byte(t.dtype)})
		for _, d := range t.shape {
			_ = binary.Write(h, binary.LittleEndian, int64(d)) // a hash never fails
		}
		sampleBytes(h, t.data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func sampleBytes(h hash.Hash, data []byte) {
	step := max(len(data)/fingerprintStretches, fingerprintBytes)
	for stretch := range slices.Chunk(data, step) {
		h.Write(stretch[:min(len(stretch), fingerprintBytes)])
	}
}
