package hub

import (
	"context"
	"crypto/sha1" //nolint:gosec // git's own name of a blob
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// digest is a file's content by the hub's names for it.
type digest struct {
	size   int64
	sha256 string
	oid    string // git's SHA-1 of "blob SIZE\0" and the content; empty without it
}

// noGit leaves out git's hash.
const noGit = -1

// gitSize is the size for git's hash of a file that the hub lists by it. For
// others it would only halve the speed.
func (f File) gitSize() int64 {
	if f.SHA256 != "" {
		return noGit
	}
	return f.Size
}

// digestOf reads r to its end. gitSize is the size that git's hash begins with,
// or [noGit].
func digestOf(ctx context.Context, r io.Reader, gitSize int64) (digest, error) {
	sum, git := sha256.New(), sha1.New()
	hashes := []io.Writer{sum}
	if gitSize != noGit {
		fmt.Fprintf(git, "blob %d\x00", gitSize)
		hashes = append(hashes, git)
	}
	n, err := io.CopyBuffer(io.MultiWriter(hashes...), stopping{ctx, r}, make([]byte, 1<<20))
	if err != nil {
		return digest{}, err
	}
	d := digest{size: n, sha256: hex.EncodeToString(sum.Sum(nil))}
	if gitSize != noGit {
		d.oid = hex.EncodeToString(git.Sum(nil))
	}
	return d, nil
}

// stopping ends a long read when its context does.
type stopping struct {
	ctx context.Context
	r   io.Reader
}

// Read is io.Reader's.
func (s stopping) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

// digestFile reads the file at path.
func digestFile(ctx context.Context, path string, gitSize int64) (digest, error) {
	file, err := os.Open(path)
	if err != nil {
		return digest{}, err
	}
	defer file.Close()
	return digestOf(ctx, file, gitSize)
}

// check compares content with what the hub lists. An ETag that is no hash (a
// mirror's own) leaves only the size to go by.
func (d digest) check(f File) error {
	switch {
	case d.size != f.Size:
		return fmt.Errorf("%w: %s: %d bytes, the hub lists %d", ErrChecksum, f.Path, d.size, f.Size)
	case f.SHA256 != "" && d.sha256 != f.SHA256:
		return fmt.Errorf("%w: %s: sha256 %s, the hub lists %s", ErrChecksum, f.Path, d.sha256, f.SHA256)
	case f.SHA256 == "" && hexSHA1.MatchString(f.OID) && d.oid != f.OID:
		return fmt.Errorf("%w: %s: git sha1 %s, the hub lists %s", ErrChecksum, f.Path, d.oid, f.OID)
	}
	return nil
}
