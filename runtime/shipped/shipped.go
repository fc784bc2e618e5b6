// Package shipped holds the models that travel inside the program, as folders
// in Hugging Face layout. They are unpacked once into a cache, since weights
// are mapped from files, and other tools may read them there too.
package shipped

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/coderl/cr/internal/atomicfile"
)

//go:embed all:models
var models embed.FS

// FS returns the shipped models, one folder each.
func FS() fs.FS {
	sub, err := fs.Sub(models, "models")
	if err != nil {
		return models // cannot be: the name is a valid path
	}
	return sub
}

// Names lists the models of a file system like [FS], in order.
func Names(from fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(from, ".")
	if err != nil {
		return nil, fmt.Errorf("shipped models: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Has tells whether name is a model of from.
func Has(from fs.FS, name string) bool {
	names, err := Names(from)
	return err == nil && slices.Contains(names, name)
}

// Unpack writes model name of from below cache, unless it is there whole, and
// returns its folder. The folder's name carries a digest of the content: another
// version of the program neither finds nor disturbs it. Several processes may
// unpack at once.
func Unpack(from fs.FS, name, cache string) (string, error) {
	files, err := contents(from, name)
	if err != nil {
		return "", fmt.Errorf("shipped model %s: %w", name, err)
	}
	folder := filepath.Join(cache, name+"-"+digest(files))
	for _, f := range files {
		if err := put(filepath.Join(folder, filepath.FromSlash(f.name)), f.data); err != nil {
			return "", fmt.Errorf("unpack model %s: %w", name, err)
		}
	}
	return folder, nil
}

// file is one file of a model, named within its folder.
type file struct {
	name string
	data []byte
}

// contents reads a model's files in the order of their names.
func contents(from fs.FS, name string) ([]file, error) {
	var files []file
	err := fs.WalkDir(from, name, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, p)
		files = append(files, file{p[len(name)+1:], data})
		return err
	})
	return files, err
}

func digest(files []file) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%s %d\n", path.Clean(f.name), len(f.data))
		h.Write(f.data)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// put writes a file that is absent or another, whole or not at all.
func put(name string, data []byte) error {
	there, err := os.ReadFile(name)
	switch {
	case err == nil && bytes.Equal(there, data):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return atomicfile.WriteBytes(name, data)
}
