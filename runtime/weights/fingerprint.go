package weights

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
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
		hashHeader(h, name, t)
		sampleBytes(h, t.data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Digest is Fingerprint over every byte: a SHA-256 over the tensors' names, types
// and shapes and the SHA-256 of their bytes. It reads all of the weights, several
// tensors at a time.
func (c *Checkpoint) Digest(ctx context.Context) (string, error) {
	names := c.Names()
	sums := make([][sha256.Size]byte, len(names))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(names)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				sums[i] = sha256.Sum256(c.tensors[names[i]].data)
			}
		})
	}
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	h := sha256.New()
	for i, name := range names {
		hashHeader(h, name, c.tensors[name])
		h.Write(sums[i][:])
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func hashHeader(h hash.Hash, name string, t stored) {
	h.Write([]byte(name))
	h.Write([]byte{0, byte(t.dtype)})
	for _, d := range t.shape {
		_ = binary.Write(h, binary.LittleEndian, int64(d)) // a hash never fails
	}
}

// Digests is the SHA-256 of each file, by its name.
func (s *SideFiles) Digests() (map[string]string, error) {
	digests := map[string]string{"config.json": digest(s.files.config)}
	for name, content := range s.making {
		digests[name] = digest(content)
	}
	for _, name := range s.files.others {
		content, err := os.ReadFile(filepath.Join(s.files.dir, name))
		if err != nil {
			return nil, fmt.Errorf("read what lies beside the weights: %w", err)
		}
		digests[name] = digest(content)
	}
	return digests, nil
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func sampleBytes(h hash.Hash, data []byte) {
	step := max(len(data)/fingerprintStretches, fingerprintBytes)
	for stretch := range slices.Chunk(data, step) {
		h.Write(stretch[:min(len(stretch), fingerprintBytes)])
	}
}
