package hub

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// The hub's own headers.
const (
	headerCommit     = "X-Repo-Commit"
	headerLinkedETag = "X-Linked-Etag"
	headerLinkedSize = "X-Linked-Size"
)

// Metadata is what the hub says of a file without sending it.
type Metadata struct {
	Commit string
	ETag   string // without quotes
	Size   int64
}

// resolve is the URL of a file's content.
func (c *Client) resolve(r Repo, rev, path string) *url.URL {
	parts := []string{r.Name, "resolve", url.PathEscape(rev)}
	if r.Kind == Datasets {
		parts = append([]string{string(Datasets)}, parts...)
	}
	for part := range strings.SplitSeq(path, "/") {
		parts = append(parts, url.PathEscape(part))
	}
	return c.endpoint.JoinPath(parts...)
}

// Head asks for a file's metadata at a revision. It follows redirects among
// hub hosts and stops at the one that leads to a CDN, whose own headers mean
// something else.
func (c *Client) Head(ctx context.Context, r Repo, rev, path string) (Metadata, error) {
	var m Metadata
	u := c.resolve(r, rev, path)
	err := c.persist(ctx, func() (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, 2*c.options.Stall)
		defer cancel()
		a, err := c.send(ctx, http.MethodHead, u, nil, func(linked http.Header) bool {
			return linked.Get(headerCommit) != "" && linked.Get(headerLinkedETag) != ""
		})
		if err != nil {
			return false, err
		}
		if err := c.busy(a); err != nil {
			return false, err
		}
		if a.StatusCode >= http.StatusBadRequest {
			return false, c.failure(a)
		}
		defer a.Body.Close()
		m, err = a.metadata()
		return false, err
	})
	if err != nil {
		return Metadata{}, fmt.Errorf("%s@%s: %s: %w", r.Name, r.Revision, path, err)
	}
	return m, nil
}

// metadata prefers the linked values: they are the file's, the plain ones may be
// a redirect's.
func (a *answer) metadata() (Metadata, error) {
	m := Metadata{
		Commit: a.linked.Get(headerCommit),
		ETag:   plainETag(a.linked.Get(headerLinkedETag)),
		Size:   size(a.linked.Get(headerLinkedSize)),
	}
	if m.ETag == "" {
		m.ETag = plainETag(a.Header.Get("ETag"))
	}
	if m.Size < 0 && a.StatusCode == http.StatusOK {
		m.Size = a.ContentLength
	}
	missing := ""
	switch {
	case m.Commit == "":
		missing = headerCommit
	case m.ETag == "":
		missing = headerLinkedETag + " (or ETag)"
	case m.Size < 0:
		missing = headerLinkedSize + " (or Content-Length)"
	default:
		return m, nil
	}
	return Metadata{}, fmt.Errorf("%w: %s: no %s header", ErrNotHub, bare(a.url), missing)
}

// plainETag takes off the quotes and the mark of a weak tag.
func plainETag(text string) string {
	return strings.Trim(strings.TrimPrefix(strings.TrimSpace(text), "W/"), `"`)
}
