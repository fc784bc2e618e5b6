// Package hub knows the Hugging Face hub: the layout of its local cache, shared
// with huggingface_hub.
package hub

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Kind is what a repository holds.
type Kind string

// The kinds of repository; the value is the cache's folder prefix.
const (
	Models   Kind = "models"
	Datasets Kind = "datasets"
)

// Repo names a repository at a revision.
type Repo struct {
	Kind     Kind
	Name     string // ORG/NAME
	Revision string // branch, tag or commit
}

// Error sentinels of a cache look-up.
var (
	ErrNotCached = errors.New("not in the cache")
	ErrBadName   = errors.New("not a repository name")
)

var (
	repoName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$`)
	revision = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)
	commit   = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// Parse reads ORG/NAME[@REV], the part after "hub:". Revision is "main" when
// absent.
func Parse(kind Kind, text string) (Repo, error) {
	name, rev, found := strings.Cut(text, "@")
	if !found {
		rev = "main"
	}
	if !repoName.MatchString(name) || !revision.MatchString(rev) || strings.Contains(text, "..") {
		return Repo{}, fmt.Errorf("%q: %w: want ORG/NAME or ORG/NAME@REVISION", text, ErrBadName)
	}
	return Repo{Kind: kind, Name: name, Revision: rev}, nil
}

// ParseRef reads a repository as a user names one: ORG/NAME[@REV] for a model,
// datasets/ORG/NAME[@REV] for a dataset, with or without "hub:" before it. assumed
// is the revision of a name without one.
func ParseRef(text, assumed string) (Repo, error) {
	kind, rest := Models, strings.TrimPrefix(text, "hub:")
	if name, ok := strings.CutPrefix(rest, "datasets/"); ok {
		kind, rest = Datasets, name
	} else {
		rest = strings.TrimPrefix(rest, "models/")
	}
	r, err := Parse(kind, rest)
	if err != nil || strings.Contains(rest, "@") {
		return r, err
	}
	if !revision.MatchString(assumed) || strings.Contains(assumed, "..") {
		return Repo{}, fmt.Errorf("%q: not a revision: want a branch, a tag or a commit", assumed)
	}
	r.Revision = assumed
	return r, nil
}

// Snapshot returns the folder of a repository's files inside the cache at root
// (the folder that holds models--ORG--NAME), and the commit it stands for.
// It is [ErrNotCached] when the revision was never downloaded.
func Snapshot(root string, r Repo) (dir, sha string, err error) {
	base := filepath.Join(root, repoFolder(r))
	sha = r.Revision
	if !commit.MatchString(sha) {
		ref, err := os.ReadFile(filepath.Join(base, "refs", filepath.FromSlash(r.Revision)))
		if err != nil {
			return "", "", fmt.Errorf("%s@%s: %w", r.Name, r.Revision, ErrNotCached)
		}
		sha = strings.TrimSpace(string(ref))
		if !commit.MatchString(sha) {
			return "", "", fmt.Errorf("%s@%s: the cache's ref holds %q, not a commit", r.Name, r.Revision, sha)
		}
	}
	dir = filepath.Join(base, "snapshots", sha)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", "", fmt.Errorf("%s@%s: %w", r.Name, r.Revision, ErrNotCached)
	}
	return dir, sha, nil
}

// Cached is [Snapshot] for a selection of files: it is [ErrNotCached] too when a
// file chosen by its path is not there, or one that the listing kept with the
// snapshot names. A snapshot without a listing is otherwise taken as it is.
func Cached(root string, r Repo, chosen Selection) (string, error) {
	dir, sha, err := Snapshot(root, r)
	if err != nil {
		return "", err
	}
	missing := func(name string) (string, error) {
		return "", fmt.Errorf("%s@%s: %s: %w", r.Name, r.Revision, name, ErrNotCached)
	}
	for _, name := range chosen.named {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return missing(name)
		}
	}
	l, err := keptListing(filepath.Join(root, repoFolder(r)), r, sha)
	if err != nil {
		return dir, nil
	}
	for _, f := range l.Files {
		if chosen.Match(f.Path) && !sized(filepath.Join(dir, filepath.FromSlash(f.Path)), f.Size) {
			return missing(f.Path)
		}
	}
	return dir, nil
}
