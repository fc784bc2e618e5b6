package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Limits on what a listing may hold. The largest repositories have some
// hundred thousand files.
const (
	maxFiles     = 1 << 20
	maxPages     = 2_000
	maxPageBytes = 64 << 20
	maxPath      = 1024
)

// File is one file of a repository at a commit.
type File struct {
	Path   string // slash-separated, relative, checked to stay inside a folder
	Size   int64  // -1 while only HEAD can tell
	OID    string // git's SHA-1 of the blob; of the pointer, for an LFS file
	SHA256 string // of the content of an LFS file, else empty
	Xet    string // the hub's chunk-store hash, kept for huggingface_hub
}

// ETag names the content: the SHA-256 of an LFS file, git's SHA-1 of another.
func (f File) ETag() string { return cmp.Or(f.SHA256, f.OID) }

// Listing is a repository at a commit, files ordered by path.
type Listing struct {
	Repo   Repo
	Commit string
	Files  []File
}

var (
	hexSHA1   = regexp.MustCompile(`^[0-9a-f]{40}$`)
	hexSHA256 = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// List resolves a repository's revision to its commit and lists that commit.
func (c *Client) List(ctx context.Context, r Repo) (Listing, error) {
	l, err := c.list(ctx, r)
	if err != nil {
		return Listing{}, fmt.Errorf("%s@%s: %w", r.Name, r.Revision, err)
	}
	return l, nil
}

func (c *Client) list(ctx context.Context, r Repo) (Listing, error) {
	var info struct {
		SHA      string `json:"sha"`
		Siblings []struct {
			Name string `json:"rfilename"`
		} `json:"siblings"`
	}
	at := c.api(r, "revision", r.Revision)
	if _, err := c.getJSON(ctx, at, &info); err != nil {
		return Listing{}, err
	}
	if !commit.MatchString(info.SHA) {
		return Listing{}, fmt.Errorf("%w: %s: no commit in the answer", ErrNotHub, bare(at))
	}
	l := Listing{Repo: r, Commit: info.SHA}
	entries, err := c.tree(ctx, r, info.SHA)
	var status *StatusError
	if errors.As(err, &status) && (status.Code == http.StatusNotFound || status.Code == http.StatusMethodNotAllowed || status.Code == http.StatusNotImplemented) {
		// Some mirrors have no tree: names alone, and HEAD tells the rest.
		err, entries = nil, nil
		for _, s := range info.Siblings {
			entries = append(entries, treeEntry{Type: "file", Path: s.Name, Size: -1})
		}
	}
	if err != nil {
		return Listing{}, err
	}
	l.Files, err = filesOf(entries)
	return l, err
}

// treeEntry is an element of the tree API's pages.
type treeEntry struct {
	Type string `json:"type"`
	Path string `json:"path"`
	Size int64  `json:"size"`
	OID  string `json:"oid"`
	LFS  *struct {
		OID  string `json:"oid"`
		Size int64  `json:"size"`
	} `json:"lfs"`
	Xet string `json:"xetHash"`
}

// tree reads all pages; each names the next in its Link header.
func (c *Client) tree(ctx context.Context, r Repo, sha string) ([]treeEntry, error) {
	next := c.api(r, "tree", sha)
	next.RawQuery = "recursive=true&expand=false"
	var all []treeEntry
	seen := map[string]bool{}
	for range maxPages {
		if seen[next.String()] {
			return nil, fmt.Errorf("%w: %s: its pages lead in a circle", ErrNotHub, bare(next))
		}
		seen[next.String()] = true
		var page []treeEntry
		header, err := c.getJSON(ctx, next, &page)
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); len(all) > maxFiles {
			return nil, fmt.Errorf("more than %d files", maxFiles)
		}
		link := nextLink(header.Get("Link"))
		if link == "" {
			return all, nil
		}
		if next, err = next.Parse(link); err != nil {
			return nil, fmt.Errorf("%w: a page's Link header: %w", ErrNotHub, err)
		}
	}
	return nil, fmt.Errorf("%w: more than %d pages of files", ErrNotHub, maxPages)
}

// nextLink returns the target with rel="next" of a Link header (RFC 8288).
func nextLink(header string) string {
	for header != "" {
		start := strings.IndexByte(header, '<')
		if start < 0 {
			return ""
		}
		end := strings.IndexByte(header[start:], '>')
		if end < 0 {
			return ""
		}
		target := header[start+1 : start+end]
		header = header[start+end+1:]
		parameters, rest, _ := strings.Cut(header, "<")
		if strings.Contains(strings.ReplaceAll(parameters, `"`, ""), "rel=next") {
			return target
		}
		header = header[len(header)-len(rest):]
		if rest != "" {
			header = "<" + rest
		}
	}
	return ""
}

// filesOf checks a listing's entries; nothing in them is believed.
func filesOf(entries []treeEntry) ([]File, error) {
	files := make([]File, 0, len(entries))
	seen := map[string]bool{}
	for _, e := range entries {
		if e.Type != "file" {
			continue
		}
		f := File{Path: e.Path, Size: e.Size, OID: e.OID, Xet: e.Xet}
		if e.LFS != nil {
			f.SHA256, f.Size = e.LFS.OID, e.LFS.Size
		}
		if err := f.check(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotHub, err)
		}
		if !seen[f.Path] {
			seen[f.Path] = true
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return files, nil
}

func (f File) check() error {
	switch {
	case !safePath(f.Path):
		return fmt.Errorf("file name %.80q: not a plain path inside a folder", f.Path)
	case f.Size < -1 || f.Size > 1<<50:
		return fmt.Errorf("%s: size %d", f.Path, f.Size)
	case f.OID != "" && !hexSHA1.MatchString(f.OID):
		return fmt.Errorf("%s: oid %.80q", f.Path, f.OID)
	case f.SHA256 != "" && !hexSHA256.MatchString(f.SHA256):
		return fmt.Errorf("%s: LFS oid %.80q", f.Path, f.SHA256)
	case f.Size >= 0 && f.ETag() == "":
		return fmt.Errorf("%s: no hash", f.Path)
	}
	return nil
}

// safePath accepts clean relative paths that stay in a folder on every system,
// and that do nothing to a terminal on which they are shown.
func safePath(p string) bool {
	return p != "" && len(p) <= maxPath && path.Clean(p) == p && filepath.IsLocal(filepath.FromSlash(p)) && p != "." &&
		!strings.ContainsRune(p, '\\') && !strings.ContainsFunc(p, unicode.IsControl) && p != ".cache" && !strings.HasPrefix(p, ".cache/")
}

// api is the URL of a repository's API: …/api/models/ORG/NAME/WHAT/REVISION.
func (c *Client) api(r Repo, what, rev string) *url.URL {
	return c.endpoint.JoinPath("api", string(r.Kind), r.Name, what, url.PathEscape(rev))
}

// getJSON reads one JSON answer and returns its header.
func (c *Client) getJSON(ctx context.Context, u *url.URL, into any) (http.Header, error) {
	var header http.Header
	err := c.persist(ctx, func() (bool, error) {
		// Without a deadline a server that falls silent would hold this for ever.
		ctx, cancel := context.WithTimeout(ctx, 2*c.options.Stall)
		defer cancel()
		a, err := c.send(ctx, http.MethodGet, u, nil, nil)
		if err != nil {
			return false, err
		}
		if err := c.busy(a); err != nil {
			return false, err
		}
		if a.StatusCode != http.StatusOK {
			return false, c.failure(a)
		}
		defer a.Body.Close()
		header = a.Header
		return false, c.decode(a, into)
	})
	return header, err
}

func (c *Client) decode(a *answer, into any) error {
	data, err := io.ReadAll(io.LimitReader(a.Body, maxPageBytes+1))
	if err != nil {
		return c.networkError(a.url, err)
	}
	if len(data) > maxPageBytes {
		return fmt.Errorf("%w: %s: more than %d bytes of JSON", ErrNotHub, bare(a.url), maxPageBytes)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrNotHub, bare(a.url), err)
	}
	return nil
}

// size reads a header's byte count; -1 where there is none.
func size(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}
