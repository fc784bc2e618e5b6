// Package serve is a hub: it serves folders by the Hugging Face hub's HTTP
// protocol, to cr, huggingface_hub, transformers and datasets, for sites
// without the internet and for tests.
package serve

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// Options configure a [Server].
type Options struct {
	// LFSAbove is the size from which a file counts as LFS, as do files with the
	// endings of weights and tables whatever their size. 0: 1 MiB.
	LFSAbove int64
	// PageSize is the number of files on a page of a listing. 0: 1000.
	PageSize int
	// CDN, when set, is the base URL that LFS files redirect to instead of this
	// server's own path: another address of the same server.
	CDN string
	Log *slog.Logger
}

// Server serves DIR/ORG/NAME as models and DIR/datasets/ORG/NAME as datasets,
// each folder as one commit on branch main. What changes in a folder is a new
// commit at the next request. It is safe for concurrent use.
type Server struct {
	options Options
	shelf   *shelf
}

// New returns a server of the repositories in dir.
func New(dir string, o Options) *Server {
	if o.LFSAbove == 0 {
		o.LFSAbove = 1 << 20
	}
	if o.PageSize <= 0 {
		o.PageSize = 1000
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{options: o, shelf: newShelf(dir, o.LFSAbove)}
}

const (
	orgAndName = `([A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*)`
	headerCode = "X-Error-Code"
)

var (
	apiPath     = regexp.MustCompile(`^/api/(models|datasets)/` + orgAndName + `(?:/(revision|tree|paths-info)/([^/]+)(?:/(.*))?)?$`)
	resolvePath = regexp.MustCompile(`^/(datasets/)?` + orgAndName + `/(resolve|raw)/([^/]+)/(.+)$`)
	contentPath = regexp.MustCompile(`^/content/(models|datasets)/` + orgAndName + `/([0-9a-f]{40})/(.+)$`)
)

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.options.Log.Debug("request", "method", r.Method, "path", r.URL.Path, "range", r.Header.Get("Range"))
	path := r.URL.EscapedPath()
	if m := apiPath.FindStringSubmatch(path); m != nil && (r.Method == http.MethodGet || m[3] == "paths-info") {
		s.api(w, r, request{kind: m[1], name: m[2], what: m[3], revision: unescape(m[4]), path: unescape(m[5])})
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		refuse(w, http.StatusMethodNotAllowed, "", "only reading is served")
		return
	}
	if m := contentPath.FindStringSubmatch(path); m != nil {
		s.content(w, r, request{kind: m[1], name: m[2], revision: m[3], path: unescape(m[4])})
		return
	}
	if m := resolvePath.FindStringSubmatch(path); m != nil {
		kind := "models"
		if m[1] != "" {
			kind = "datasets"
		}
		s.resolve(w, r, request{kind: kind, name: m[2], revision: unescape(m[4]), path: unescape(m[5])})
		return
	}
	refuse(w, http.StatusNotFound, "", "no such path")
}

// request is what a path asks for.
type request struct{ kind, name, what, revision, path string }

// unescape never fails on a path that net/http has parsed.
func unescape(text string) string {
	plain, err := url.PathUnescape(text)
	if err != nil {
		return text
	}
	return plain
}

// repo finds the repository at the revision asked for, or answers that it is not
// there.
func (s *Server) repo(w http.ResponseWriter, r *http.Request, q request) *repository {
	found, err := s.shelf.open(r.Context(), q.kind, q.name)
	switch {
	case errors.Is(err, errNoRepo):
		refuse(w, http.StatusNotFound, "RepoNotFound", "Repository not found")
	case err != nil:
		s.options.Log.Error("read a repository", "repo", q.name, "error", err)
		refuse(w, http.StatusInternalServerError, "", "the repository cannot be read")
	case q.revision != "" && q.revision != "main" && q.revision != found.commit:
		refuse(w, http.StatusNotFound, "RevisionNotFound", "Invalid rev id: "+q.revision)
	default:
		return found
	}
	return nil
}

// refuse answers with the hub's headers for an error.
func refuse(w http.ResponseWriter, status int, code, message string) {
	if code != "" {
		w.Header().Set(headerCode, code)
	}
	w.Header().Set("X-Error-Message", strings.Map(printable, message))
	writeJSON(w, status, map[string]string{"error": message})
}

func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return -1
	}
	return r
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(data) // a client that went away
}
