package serve

import (
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// resolve answers for a file by its name: a small one with its bytes, an LFS
// file with a redirect to them that carries its hash and size.
func (s *Server) resolve(w http.ResponseWriter, r *http.Request, q request) {
	repo, f, ok := s.named(w, r, q)
	if !ok {
		return
	}
	if !f.lfs {
		s.send(w, r, f)
		return
	}
	at := url.URL{Path: "/content/" + q.kind + "/" + q.name + "/" + repo.commit + "/" + f.path}
	w.Header().Set("X-Linked-Etag", `"`+f.sha256+`"`)
	w.Header().Set("X-Linked-Size", strconv.FormatInt(f.size, 10))
	w.Header().Set("Location", strings.TrimSuffix(s.options.CDN, "/")+at.EscapedPath())
	w.WriteHeader(http.StatusFound)
}

// content sends the bytes of an LFS file.
func (s *Server) content(w http.ResponseWriter, r *http.Request, q request) {
	if _, f, ok := s.named(w, r, q); ok {
		s.send(w, r, f)
	}
}

// named finds a file, or answers that it is not there.
func (s *Server) named(w http.ResponseWriter, r *http.Request, q request) (*repository, file, bool) {
	repo := s.repo(w, r, q)
	if repo == nil {
		return nil, file{}, false
	}
	w.Header().Set("X-Repo-Commit", repo.commit)
	f, ok := repo.file(q.path)
	if !ok {
		refuse(w, http.StatusNotFound, "EntryNotFound", "Entry not found")
	}
	return repo, f, ok
}

// send serves bytes with ranges, conditions and the ETag of the listing.
func (s *Server) send(w http.ResponseWriter, r *http.Request, f file) {
	opened, err := os.Open(f.local)
	if err != nil {
		s.options.Log.Error("open a file", "error", err)
		refuse(w, http.StatusInternalServerError, "", "the file cannot be read")
		return
	}
	defer opened.Close()
	w.Header().Set("ETag", `"`+f.etag()+`"`)
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment")
	// Its own modification time would let a client mix two contents.
	http.ServeContent(w, r, "", f.modified, opened)
}
