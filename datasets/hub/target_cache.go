package hub

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/coderl/cr/internal/atomicfile"
)

// InCache is the standard cache, shared with huggingface_hub: contents under
// blobs by ETag, names under snapshots/COMMIT as relative links to them,
// branches and tags under refs.
func InCache(root string) Target { return cacheTarget(root) }

type cacheTarget string

func (t cacheTarget) root() string { return string(t) }

func (t cacheTarget) repo(l Listing) string { return filepath.Join(string(t), repoFolder(l.Repo)) }

func (t cacheTarget) Dir(l Listing) string {
	return filepath.Join(t.repo(l), "snapshots", l.Commit)
}

func (t cacheTarget) name(l Listing, f File) string {
	return filepath.Join(t.Dir(l), filepath.FromSlash(f.Path))
}

func (t cacheTarget) blob(l Listing, f File) string {
	return filepath.Join(t.tempDir(l, f), f.ETag())
}

func (t cacheTarget) tempDir(l Listing, _ File) string { return filepath.Join(t.repo(l), "blobs") }
func (t cacheTarget) stem(f File) string               { return f.ETag() }
func (t cacheTarget) treeFolder(l Listing) string      { return t.repo(l) }

func (t cacheTarget) lockPath(l Listing, f File) string {
	return filepath.Join(string(t), ".locks", repoFolder(l.Repo), f.ETag()+".lock")
}

func (t cacheTarget) lookup(l Listing, f File) (presence, error) {
	switch {
	case sized(t.name(l, f), f.Size):
		return present, nil
	case sized(t.blob(l, f), f.Size):
		return linkable, nil
	}
	return absent, nil
}

// content is the name's file where there is one: without links it is a copy.
func (t cacheTarget) content(l Listing, f File) string {
	if name := t.name(l, f); sized(name, f.Size) {
		return name
	}
	return t.blob(l, f)
}

func (t cacheTarget) drop(l Listing, f File) error { return removeAll(t.name(l, f), t.blob(l, f)) }

func (t cacheTarget) place(l Listing, f File, temp string) error {
	if err := moveInto(temp, t.blob(l, f)); err != nil {
		return err
	}
	return t.adopt(l, f)
}

// adopt links a name to its blob. The link appears by a rename, so that several
// processes may do it at once.
func (t cacheTarget) adopt(l Listing, f File) error {
	name, blob := t.name(l, f), t.blob(l, f)
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	relative, err := filepath.Rel(dir, blob)
	if err != nil {
		return err
	}
	temp := filepath.Join(dir, ".link-"+strconv.FormatUint(rand.Uint64(), 36))
	if os.Symlink(relative, temp) != nil {
		return atomicfile.Copy(blob, name) // a file system without links
	}
	if err := os.Rename(temp, name); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}

// finish notes which commit the revision stands for.
func (t cacheTarget) finish(l Listing) error {
	if l.Repo.Revision == l.Commit {
		return nil
	}
	ref := filepath.Join(t.repo(l), "refs", filepath.FromSlash(l.Repo.Revision))
	if known, err := os.ReadFile(ref); err == nil && string(known) == l.Commit {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(ref), 0o755); err != nil {
		return err
	}
	return atomicfile.WriteBytes(ref, []byte(l.Commit))
}
