package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"sort"
	"strconv"
	"strings"
)

// pointerSize is the length of the text that git keeps in place of an LFS file.
func pointerSize(size int64) int {
	return len("version https://git-lfs.github.com/spec/v1\noid sha256:\nsize \n") + 64 + len(strconv.FormatInt(size, 10))
}

// api answers the JSON questions about a repository.
func (s *Server) api(w http.ResponseWriter, r *http.Request, q request) {
	repo := s.repo(w, r, q)
	if repo == nil {
		return
	}
	switch q.what {
	case "tree":
		s.tree(w, r, q, repo)
	case "paths-info":
		s.pathsInfo(w, r, repo)
	default:
		info(w, r, q, repo)
	}
}

// info describes a repository; with blobs=true each file has its size and hash.
func info(w http.ResponseWriter, r *http.Request, q request, repo *repository) {
	blobs := r.URL.Query().Get("blobs") == "true"
	siblings := make([]map[string]any, 0, len(repo.files))
	for _, f := range repo.files {
		sibling := map[string]any{"rfilename": f.path}
		if blobs {
			sibling["size"], sibling["blobId"] = f.size, f.oid
			if f.lfs {
				sibling["lfs"] = map[string]any{"sha256": f.sha256, "size": f.size, "pointerSize": pointerSize(f.size)}
			}
		}
		siblings = append(siblings, sibling)
	}
	author, _, _ := strings.Cut(q.name, "/")
	answer := map[string]any{
		"_id": repo.commit[:24], "id": q.name, "author": author, "sha": repo.commit, "siblings": siblings,
		"lastModified": repo.modified.UTC().Format("2006-01-02T15:04:05.000Z"),
		"createdAt":    repo.modified.UTC().Format("2006-01-02T15:04:05.000Z"),
		"private":      false, "gated": false, "disabled": false, "downloads": 0, "likes": 0, "tags": []string{},
	}
	if q.kind == "models" {
		answer["modelId"] = q.name
	}
	writeJSON(w, http.StatusOK, answer)
}

// entry is one line of a listing.
func entry(f file) map[string]any {
	e := map[string]any{"type": "file", "path": f.path, "size": f.size, "oid": f.oid}
	if f.lfs {
		e["lfs"] = map[string]any{"oid": f.sha256, "size": f.size, "pointerSize": pointerSize(f.size)}
	}
	return e
}

func folderEntry(folder string) map[string]any {
	return map[string]any{"type": "directory", "path": folder, "size": 0, "oid": treeOID(folder)}
}

// tree lists a folder, a page at a time; the Link header names the next page.
func (s *Server) tree(w http.ResponseWriter, r *http.Request, q request, repo *repository) {
	query := r.URL.Query()
	entries, found := repo.list(q.path, query.Get("recursive") == "true" || query.Get("recursive") == "1")
	if !found {
		w.Header().Set("X-Repo-Commit", repo.commit)
		refuse(w, http.StatusNotFound, "EntryNotFound", q.path+" does not exist")
		return
	}
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit <= 0 || limit > s.options.PageSize {
		limit = s.options.PageSize
	}
	start, err := strconv.Atoi(query.Get("cursor"))
	if err != nil || start < 0 || start > len(entries) {
		start = 0
	}
	end := min(start+limit, len(entries))
	if end < len(entries) {
		next := url.URL{Scheme: scheme(r), Host: r.Host, Path: r.URL.Path}
		query.Set("cursor", strconv.Itoa(end))
		next.RawQuery = query.Encode()
		w.Header().Set("Link", fmt.Sprintf(`<%s>; rel="next"`, next.String()))
	}
	writeJSON(w, http.StatusOK, entries[start:end])
}

func scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// list returns the entries of a folder, deeper ones too if recursive, by path.
func (r *repository) list(folder string, recursive bool) (entries []map[string]any, found bool) {
	prefix := ""
	if folder != "" {
		prefix = strings.TrimSuffix(folder, "/") + "/"
	}
	entries = []map[string]any{}
	folders := map[string]bool{}
	for _, f := range r.files {
		rest, inside := strings.CutPrefix(f.path, prefix)
		if !inside {
			continue
		}
		for dir := path.Dir(rest); dir != "."; dir = path.Dir(dir) {
			if (recursive || !strings.Contains(dir, "/")) && !folders[prefix+dir] {
				folders[prefix+dir] = true
				entries = append(entries, folderEntry(prefix+dir))
			}
		}
		if recursive || !strings.Contains(rest, "/") {
			entries = append(entries, entry(f))
		}
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i]["path"].(string) < entries[j]["path"].(string) })
	return entries, folder == "" || len(entries) > 0
}

// maxQuestion bounds the body of a question about paths.
const maxQuestion = 16 << 20

// pathsInfo describes the files and folders named in a form or in JSON.
func (s *Server) pathsInfo(w http.ResponseWriter, r *http.Request, repo *repository) {
	names, err := askedPaths(w, r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "", err.Error())
		return
	}
	found := []map[string]any{}
	for _, name := range names {
		if f, ok := repo.file(name); ok {
			found = append(found, entry(f))
		} else if _, isFolder := repo.list(name, false); isFolder && name != "" {
			found = append(found, folderEntry(strings.TrimSuffix(name, "/")))
		}
	}
	writeJSON(w, http.StatusOK, found)
}

func askedPaths(w http.ResponseWriter, r *http.Request) ([]string, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxQuestion)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var question struct {
			Paths []string `json:"paths"`
		}
		data, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(data, &question)
		}
		return question.Paths, err
	}
	err := r.ParseForm()
	return r.Form["paths"], err
}
