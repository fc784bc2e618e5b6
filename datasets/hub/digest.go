package hub

import (
	"context"
	"crypto/sha1" //nolint:gosec // git's own name of a blob
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
)

// digest is a file's content by both of the hub's names for it.
type digest struct {
	size   int64
	sha256 string
	oid    string // git's SHA-1 of "blob SIZE\0" and the content
}

// digester computes a digest of content whose size is known beforehand.
type digester struct {
	size int64
	sum  hash.Hash
	git  hash.Hash
}

func newDigester(size int64) *digester {
	d := &digester{sum: sha256.New(), git: sha1.New()}
	fmt.Fprintf(d.git, "blob %d\x00", size)
	return d
}

func (d *digester) Write(p []byte) (int, error) {
	d.size += int64(len(p))
	d.sum.Write(p) // a hash never fails
	d.git.Write(p)
	return len(p), nil
}

func (d *digester) digest() digest {
	return digest{size: d.size, sha256: hex.EncodeToString(d.sum.Sum(nil)), oid: hex.EncodeToString(d.git.Sum(nil))}
}

// digestOf reads r to its end.
func digestOf(ctx context.Context, r io.Reader, size int64) (digest, error) {
	d := newDigester(size)
	buffer := make([]byte, 1<<20)
	for {
		if err := ctx.Err(); err != nil {
			return digest{}, err
		}
		n, err := r.Read(buffer)
		_, _ = d.Write(buffer[:n])
		if err == io.EOF {
			return d.digest(), nil
		}
		if err != nil {
			return digest{}, err
		}
	}
}

// digestFile reads the file at path.
func digestFile(ctx context.Context, path string) (digest, error) {
	f, err := os.Open(path)
	if err != nil {
		return digest{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return digest{}, err
	}
	return digestOf(ctx, f, info.Size())
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
