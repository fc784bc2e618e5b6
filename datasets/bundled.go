package datasets

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

//go:embed bundled
var bundled embed.FS

// shippedFile is the file of a set inside cr; "" when there is none of that name.
func shippedFile(name string) string {
	switch name {
	case "bundled":
		return "bundled/problems.jsonl"
	case "tiny-heldout":
		return "bundled/tiny-heldout.jsonl.gz"
	case "tiny-practice":
		return "bundled/tiny-practice.jsonl.gz"
	}
	return ""
}

// ShippedNames lists the sets inside cr.
func ShippedNames() []string { return []string{"bundled", "tiny-heldout", "tiny-practice"} }

// Shipped returns a set of problems that ships inside cr, by its name, in
// LiveCodeBench's schema though no part of LiveCodeBench. "bundled": twenty
// problems, trivial to medium. "tiny-heldout": small tasks that the shipped
// model never saw, made by package tinytasks. "tiny-practice": those that it is
// reinforced on.
func Shipped(name string) (Set, error) {
	path := shippedFile(name)
	if path == "" {
		return Set{}, fmt.Errorf("no set %q is shipped inside cr; there are %s", name, strings.Join(ShippedNames(), ", "))
	}
	s, err := readShipped(name, path)
	if err != nil {
		return Set{}, fmt.Errorf("shipped problems %s: %w", name, err)
	}
	return s, nil
}

// Bundled returns the twenty problems shipped inside cr.
func Bundled() (Set, error) { return Shipped("bundled") }

// readShipped reads an embedded file; its digest is of the problems, not of how
// they are compressed.
func readShipped(name, path string) (Set, error) {
	content, err := fs.ReadFile(bundled, path)
	if err == nil && strings.HasSuffix(path, ".gz") {
		content, err = gunzip(content)
	}
	if err != nil {
		return Set{}, err
	}
	sum := sha256.Sum256(content)
	s := Set{Name: name, SHA256: hex.EncodeToString(sum[:])}
	err = eachLine(context.Background(), bytes.NewReader(content), func(_ int, line []byte) error {
		r, err := parseRecord(line)
		if err != nil {
			return err
		}
		p, err := r.problem()
		if err != nil {
			return err
		}
		s.Problems = append(s.Problems, p)
		return checkFunctional(p)
	})
	slices.SortFunc(s.Problems, func(a, b Problem) int { return strings.Compare(a.ID, b.ID) })
	return s, err
}

func gunzip(content []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return io.ReadAll(z)
}
