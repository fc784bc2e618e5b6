// Package build keeps compiled programs by content: each source is compiled once,
// however many runs want it at the same time and however many processes share the
// directory.
package build

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"sync"
	"time"
)

// Build is what a compiler left. It is shared: nobody may change it.
type Build struct {
	OK       bool
	TimedOut bool
	Killed   bool // by a signal or for its use of memory or output
	ExitCode int
	Stdout   []byte
	Stderr   []byte
	Wall     time.Duration
	Files    map[string][]byte // of a program that compiled, by name
}

// lasting says whether the same source would meet the same end again.
func (b *Build) lasting() bool { return !b.TimedOut && !b.Killed }

// size is about what it takes in memory.
func (b *Build) size() int64 {
	n := int64(len(b.Stdout) + len(b.Stderr) + 512)
	for name, data := range b.Files {
		n += int64(len(name) + len(data))
	}
	return n
}

// Key names a compilation by everything that decides its outcome.
func Key(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		// Lengths keep the parts apart.
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Cache remembers builds. It is safe for concurrent use.
type Cache struct {
	disk   store
	mu     sync.Mutex
	recent recent
	going  map[string]*flight
}

// flight is a compilation under way.
type flight struct {
	done  chan struct{}
	build *Build
	err   error
}

// Limits of a cache, in bytes.
const (
	DefaultDisk   = 1 << 30
	DefaultMemory = 128 << 20
)

// New returns a cache that keeps up to disk bytes of builds in dir and up to
// memory bytes at hand. Without a directory it has the memory only.
func New(dir string, disk, memory int64) (*Cache, error) {
	c := &Cache{disk: store{dir: dir, limit: disk}, recent: newRecent(memory), going: map[string]*flight{}}
	return c, c.disk.open()
}

// Get returns the build of a key, compiling if nobody has. An error is that of
// compile, and is not kept; of those who wait for the same build, one tries again
// when the other was cancelled.
func (c *Cache) Get(ctx context.Context, key string, compile func(context.Context) (*Build, error)) (*Build, error) {
	for {
		c.mu.Lock()
		if b := c.recent.get(key); b != nil {
			c.mu.Unlock()
			return b, nil
		}
		f, waiting := c.going[key]
		if !waiting {
			f = &flight{done: make(chan struct{})}
			c.going[key] = f
		}
		c.mu.Unlock()
		if !waiting {
			return c.lead(ctx, key, f, compile)
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !errors.Is(f.err, context.Canceled) && !errors.Is(f.err, context.DeadlineExceeded) {
			return f.build, f.err
		}
	}
}

// lead makes a build for all who wait for it.
func (c *Cache) lead(ctx context.Context, key string, f *flight, compile func(context.Context) (*Build, error)) (*Build, error) {
	found := c.disk.load(key)
	if f.build = found; found == nil {
		f.build, f.err = compile(ctx)
	}
	if f.err == nil && found == nil && f.build.lasting() {
		f.err = c.disk.save(key, f.build)
	}
	c.mu.Lock()
	if f.err == nil && f.build.lasting() {
		c.recent.put(key, f.build)
	}
	delete(c.going, key)
	c.mu.Unlock()
	close(f.done)
	return f.build, f.err
}
