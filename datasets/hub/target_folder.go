package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/coderl/cr/internal/atomicfile"
)

// InFolder puts plain files into a folder. What was fetched is noted under
// .cache/huggingface as huggingface_hub does with its local_dir.
func InFolder(dir string) Target { return folderTarget(dir) }

type folderTarget string

func (t folderTarget) root() string       { return string(t) }
func (t folderTarget) Dir(Listing) string { return string(t) }

func (t folderTarget) name(f File) string {
	return filepath.Join(string(t), filepath.FromSlash(f.Path))
}

// note is the file that says what a name holds.
func (t folderTarget) note(f File) string {
	return filepath.Join(t.treeFolder(Listing{}), "download", filepath.FromSlash(f.Path)+".metadata")
}

func (t folderTarget) treeFolder(Listing) string {
	return filepath.Join(string(t), ".cache", "huggingface")
}

func (t folderTarget) lockPath(_ Listing, f File) string {
	return strings.TrimSuffix(t.note(f), ".metadata") + ".lock"
}

func (t folderTarget) tempDir(_ Listing, f File) string { return filepath.Dir(t.note(f)) }

// stem keeps apart two names of one content in one folder.
func (t folderTarget) stem(f File) string {
	sum := sha256.Sum256([]byte(f.Path))
	return hex.EncodeToString(sum[:8]) + "." + f.ETag()
}

// lookup believes a note about a file that was not touched since; without one
// it hashes the file.
func (t folderTarget) lookup(l Listing, f File) (presence, error) {
	info, err := os.Stat(t.name(f))
	if err != nil || info.Size() != f.Size {
		return absent, nil
	}
	if etag, at, ok := t.readNote(f); ok && !info.ModTime().Add(-time.Second).After(at) {
		if etag == f.ETag() {
			return present, nil
		}
		return absent, nil
	}
	d, err := digestFile(context.Background(), t.name(f), f.gitSize())
	if err != nil {
		return absent, err
	}
	if d.check(f) != nil {
		return absent, nil
	}
	return linkable, nil
}

// readNote reads three lines: commit, ETag, seconds since 1970.
func (t folderTarget) readNote(f File) (etag string, at time.Time, ok bool) {
	data, err := os.ReadFile(t.note(f))
	lines := strings.Split(string(data), "\n")
	if err != nil || len(lines) < 3 {
		return "", time.Time{}, false
	}
	seconds, err := strconv.ParseFloat(lines[2], 64)
	return lines[1], time.UnixMicro(int64(seconds * 1e6)), err == nil
}

// adopt notes a file that is there already.
func (t folderTarget) adopt(l Listing, f File) error {
	if err := os.MkdirAll(filepath.Dir(t.note(f)), 0o755); err != nil {
		return err
	}
	seconds := float64(time.Now().UnixMicro()) / 1e6
	return atomicfile.WriteBytes(t.note(f), fmt.Appendf(nil, "%s\n%s\n%f\n", l.Commit, f.ETag(), seconds))
}

func (t folderTarget) content(_ Listing, f File) string { return t.name(f) }

func (t folderTarget) drop(_ Listing, f File) error { return removeAll(t.note(f), t.name(f)) }

func (t folderTarget) place(l Listing, f File, temp string) error {
	if err := moveInto(temp, t.name(f)); err != nil {
		return err
	}
	return t.adopt(l, f)
}

// finish keeps the notes out of version control.
func (t folderTarget) finish(l Listing) error {
	ignore := filepath.Join(t.treeFolder(l), ".gitignore")
	if _, err := os.Stat(ignore); err == nil {
		return nil
	}
	return atomicfile.WriteBytes(ignore, []byte("*"))
}
