package build

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coderl/cr/internal/atomicfile"
)

// store is a directory of builds, one file each, named by key. Files appear
// whole, so processes may share it; reading one marks it as used.
type store struct {
	dir   string // "": keep nothing
	limit int64
}

// suffix marks the store's files.
const suffix = ".build"

// sumLength is the length of a file's first line, a checksum of the rest.
const sumLength = 2 * sha256.Size

// head is the second line of a file; the parts follow: stdout, stderr, files.
type head struct {
	OK       bool
	ExitCode int
	Wall     time.Duration
	Names    []string
	Sizes    []int
}

func (s *store) open() error {
	if s.dir == "" {
		return nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make the cache of compiled programs: %w", err)
	}
	return nil
}

func (s *store) path(key string) string { return filepath.Join(s.dir, key+suffix) }

// load returns a build, nil if it is not there or not whole.
func (s *store) load(key string) *Build {
	if s.dir == "" {
		return nil
	}
	data, err := os.ReadFile(s.path(key))
	if err != nil {
		return nil
	}
	b := decode(data)
	if b == nil {
		_ = os.Remove(s.path(key)) // what cannot be removed is found broken again
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(s.path(key), now, now) // only the order of removal suffers
	return b
}

// save adds a build and makes room.
func (s *store) save(key string, b *Build) error {
	if s.dir == "" {
		return nil
	}
	if err := atomicfile.WriteBytes(s.path(key), encode(b)); err != nil {
		return fmt.Errorf("keep compiled program: %w", err)
	}
	return s.trim()
}

// trim removes what was used longest ago until the rest fits. Another process
// may do the same; a file that is gone already is no fault.
func (s *store) trim() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("trim the cache of compiled programs: %w", err)
	}
	var files []fs.FileInfo
	total := int64(0)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), suffix) {
			files = append(files, info)
			total += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range files {
		if total <= s.limit {
			break
		}
		if err := os.Remove(filepath.Join(s.dir, info.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("trim the cache of compiled programs: %w", err)
		}
		total -= info.Size()
	}
	return nil
}

func encode(b *Build) []byte {
	h := head{OK: b.OK, ExitCode: b.ExitCode, Wall: b.Wall, Sizes: []int{len(b.Stdout), len(b.Stderr)}}
	parts := [][]byte{nil, {'\n'}, b.Stdout, b.Stderr}
	for name, data := range b.Files {
		h.Names = append(h.Names, name)
		h.Sizes = append(h.Sizes, len(data))
		parts = append(parts, data)
	}
	parts[0], _ = json.Marshal(h) // strings and numbers always marshal
	body := bytes.Join(parts, nil)
	sum := sha256.Sum256(body)
	return append([]byte(hex.EncodeToString(sum[:])+"\n"), body...)
}

// decode reads what encode wrote; nil for anything else.
func decode(data []byte) *Build {
	if len(data) <= sumLength || data[sumLength] != '\n' {
		return nil
	}
	body := data[sumLength+1:]
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != string(data[:sumLength]) {
		return nil
	}
	line, rest, _ := bytes.Cut(body, []byte{'\n'})
	var h head
	if json.Unmarshal(line, &h) != nil || len(h.Sizes) != len(h.Names)+2 {
		return nil
	}
	parts := make([][]byte, len(h.Sizes))
	for i, size := range h.Sizes {
		if size < 0 || size > len(rest) {
			return nil
		}
		parts[i], rest = rest[:size:size], rest[size:]
	}
	b := &Build{OK: h.OK, ExitCode: h.ExitCode, Wall: h.Wall, Stdout: parts[0], Stderr: parts[1], Files: map[string][]byte{}}
	for i, name := range h.Names {
		if !filepath.IsLocal(name) {
			return nil
		}
		b.Files[name] = parts[i+2]
	}
	return b
}
