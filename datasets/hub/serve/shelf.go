package serve

import (
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // git's own name of a blob
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

var errNoRepo = errors.New("no such repository")

// shelf knows the repositories below a folder. Hashes are kept by path, size
// and time, so that a file is read once.
type shelf struct {
	dir      string
	lfsAbove int64

	mu     sync.Mutex
	hashes map[string]*hashed
}

// stamp changes when a file does.
type stamp struct {
	size     int64
	modified time.Time
}

// hashed is a file's hashes for one stamp, computed by the first who asks.
type hashed struct {
	stamp
	once        sync.Once
	oid, sha256 string
	err         error
}

// repository is a folder as one commit.
type repository struct {
	commit   string
	files    []file // by path
	modified time.Time
}

// file is one file of a repository.
type file struct {
	path  string // in the repository
	local string
	stamp
	lfs         bool
	oid, sha256 string
}

func (f file) etag() string {
	if f.lfs {
		return f.sha256
	}
	return f.oid
}

func newShelf(dir string, lfsAbove int64) *shelf {
	return &shelf{dir: dir, lfsAbove: lfsAbove, hashes: map[string]*hashed{}}
}

// folder is where a repository lies.
func (s *shelf) folder(kind, name string) string {
	if kind == "datasets" {
		return filepath.Join(s.dir, "datasets", filepath.FromSlash(name))
	}
	return filepath.Join(s.dir, filepath.FromSlash(name))
}

// open reads a repository as it is now.
func (s *shelf) open(ctx context.Context, kind, name string) (*repository, error) {
	root := s.folder(kind, name)
	if info, err := os.Stat(root); err != nil || !info.IsDir() || kind == "models" && strings.HasPrefix(name, "datasets/") {
		return nil, errNoRepo
	}
	// A snapshot of the cache is a folder of links; following the root is enough,
	// the files themselves are opened by name.
	repo := &repository{}
	err := filepath.WalkDir(root, func(local string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, local)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if relative == ".cache" || relative == ".git" {
				return fs.SkipDir // a download's notes, a checkout's history
			}
			return nil
		}
		f, ok, err := s.file(ctx, local, filepath.ToSlash(relative))
		if ok {
			repo.files = append(repo.files, f)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	repo.seal()
	return repo, nil
}

// file describes one file; ok is false for what is no file.
func (s *shelf) file(ctx context.Context, local, name string) (f file, ok bool, err error) {
	info, err := os.Stat(local)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return file{}, false, nil
	}
	if err != nil {
		return file{}, false, err
	}
	f = file{path: name, local: local, stamp: stamp{info.Size(), info.ModTime()}}
	h, err := s.hash(ctx, f)
	if err != nil {
		return file{}, false, err
	}
	f.oid, f.sha256 = h.oid, h.sha256
	f.lfs = f.size > s.lfsAbove || lfsEnding(name)
	if f.lfs {
		f.oid = pointerOID(f)
	}
	return f, true, nil
}

// lfsEnding recognises what the hub's default attributes put into LFS.
func lfsEnding(name string) bool {
	switch path.Ext(name) {
	case ".safetensors", ".bin", ".pt", ".pth", ".gguf", ".onnx", ".h5", ".msgpack", ".parquet", ".arrow", ".zip", ".gz", ".tar", ".zst", ".npy", ".npz":
		return true
	}
	return false
}

// hash returns a file's hashes, computed once for each state of the file.
func (s *shelf) hash(ctx context.Context, f file) (*hashed, error) {
	s.mu.Lock()
	h := s.hashes[f.local]
	if h == nil || h.stamp != f.stamp {
		h = &hashed{stamp: f.stamp}
		s.hashes[f.local] = h
	}
	s.mu.Unlock()
	// A caller that goes away does not stop the work others wait for.
	h.once.Do(func() { h.compute(f) })
	if h.err != nil {
		s.mu.Lock()
		delete(s.hashes, f.local) // the next request may have more luck
		s.mu.Unlock()
	}
	return h, cmp.Or(h.err, ctx.Err())
}

func (h *hashed) compute(f file) {
	opened, err := os.Open(f.local)
	if err != nil {
		h.err = err
		return
	}
	defer opened.Close()
	git, sum := sha1.New(), sha256.New()
	fmt.Fprintf(git, "blob %d\x00", f.size)
	n, err := io.Copy(io.MultiWriter(git, sum), opened)
	if err == nil && n != f.size {
		err = fmt.Errorf("%s changed while it was read", f.local)
	}
	h.err = err
	h.oid, h.sha256 = hex.EncodeToString(git.Sum(nil)), hex.EncodeToString(sum.Sum(nil))
}

// pointerOID is git's hash of the text that stands for an LFS file.
func pointerOID(f file) string {
	text := fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", f.sha256, f.size)
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))
	return hex.EncodeToString(sum[:])
}

// treeOID names a folder; nobody reads its content by it.
func treeOID(folder string) string {
	sum := sha1.Sum([]byte("tree " + folder))
	return hex.EncodeToString(sum[:])
}

// seal orders the files and names the commit after all they hold.
func (r *repository) seal() {
	slices.SortFunc(r.files, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	h := sha1.New()
	for _, f := range r.files {
		fmt.Fprintf(h, "%s %d %s\n", f.etag(), f.size, f.path)
		if f.modified.After(r.modified) {
			r.modified = f.modified
		}
	}
	r.commit = hex.EncodeToString(h.Sum(nil))
}

// file finds a file by its path.
func (r *repository) file(name string) (file, bool) {
	at, found := slices.BinarySearchFunc(r.files, name, func(f file, name string) int { return cmp.Compare(f.path, name) })
	if !found {
		return file{}, false
	}
	return r.files[at], true
}
