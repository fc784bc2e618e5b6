package hub

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Target is where a repository's files are put: [InCache] or [InFolder].
type Target interface {
	// Dir is the folder in which the files appear.
	Dir(l Listing) string
	// lookup says what is there of a file already.
	lookup(l Listing, f File) (presence, error)
	// lockPath, tempDir and stem are for the content being fetched.
	lockPath(l Listing, f File) string
	tempDir(l Listing, f File) string
	stem(f File) string
	// place gives a verified temporary file its name.
	place(l Listing, f File, temp string) error
	// adopt takes a file that is there in another form (see linkable).
	adopt(l Listing, f File) error
	// content is the path of a file's bytes; drop removes them and their name.
	content(l Listing, f File) string
	drop(l Listing, f File) error
	// finish is called once everything is in place.
	finish(l Listing) error
	// treeFolder is where listings are kept for offline use.
	treeFolder(l Listing) string
	// root is a folder on the target's file system.
	root() string
}

// presence is what a target has of a file.
type presence int

const (
	absent   presence = iota
	linkable          // the bytes are there, the name is not
	present
)

// repoFolder is the cache's folder of a repository.
func repoFolder(r Repo) string {
	return string(r.Kind) + "--" + strings.ReplaceAll(r.Name, "/", "--")
}

// existing is the closest folder above path that exists.
func existing(path string) string {
	for {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path
		}
		parent := filepath.Dir(path)
		if parent == path {
			return path
		}
		path = parent
	}
}

// sized says whether path is a file of so many bytes, following links.
func sized(path string, size int64) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == size
}

// removeAll removes files, some of which may be gone.
func removeAll(paths ...string) error {
	var errs []error
	for _, path := range paths {
		if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// moveInto renames a temporary file to its name, in a folder made for it.
func moveInto(temp, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("put in place: %w", err)
	}
	return nil
}
