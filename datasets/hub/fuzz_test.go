package hub

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzHeaders reads all that an answer's headers may say: what is returned is
// within the headers' own meaning, whatever they hold.
func FuzzHeaders(f *testing.F) {
	for _, text := range []string{"bytes 0-9/10", "bytes 5-9/*", "bytes */10", "bytes 9-5/10", "bytes +1-2/3", "bytes 1-99999999999999999999/3"} {
		f.Add(text, `<https://hub/api?cursor=a%3D>; rel="next"`, "c1", `"abc"`, "10", "/api/x")
	}
	f.Add("items 0-1/2", `<a>; rel="prev", <b>; rel=next`, "", `W/`, "-1", "http://cdn/x")
	f.Add("", `<<<>>>;rel="next"`, "c", `W/"x"`, "9223372036854775808", "//cdn:0/\x00")
	f.Fuzz(func(t *testing.T, contentRange, link, commit, etag, length, location string) {
		if r, ok := parseContentRange(contentRange); ok && (r.start < 0 || r.end < r.start || r.total >= 0 && r.end >= r.total) {
			t.Fatalf("%q is %+v", contentRange, r)
		}
		if next := nextLink(link); next != "" && !strings.Contains(link, "<"+next+">") {
			t.Fatalf("%q from %q", next, link)
		}
		from := mustURL(t)
		from.Scheme = "https"
		a := answer{url: from, linked: http.Header{}, Response: &http.Response{
			StatusCode: http.StatusFound, ContentLength: -1, Header: http.Header{"Etag": {etag}, "Location": {location}},
		}}
		a.linked.Set(headerCommit, commit)
		a.linked.Set(headerLinkedETag, etag)
		a.linked.Set(headerLinkedSize, length)
		if m, err := a.metadata(); err == nil && (m.Size < 0 || m.Commit == "" || m.ETag == "") {
			t.Fatalf("%+v", m)
		}
		if next, err := a.next(); err == nil && next.Scheme != "https" {
			t.Fatalf("from https to %v", next)
		}
	})
}

func TestContentRange(t *testing.T) {
	for text, want := range map[string]contentRange{
		"bytes 0-9/10": {0, 9, 10}, "bytes 5-9/*": {5, 9, -1}, "bytes 7-7/8": {7, 7, 8},
	} {
		if got, ok := parseContentRange(text); !ok || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "bytes */10", "bytes 9-5/10", "bytes 0-10/10", "bytes +1-2/3", "bytes 1- 2/3", "bytes 1-2", "items 0-1/2", "bytes 0-9223372036854775808/*"} {
		if got, ok := parseContentRange(text); ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestNextLink(t *testing.T) {
	for header, want := range map[string]string{
		`<https://hub/api?cursor=a%3D>; rel="next"`: "https://hub/api?cursor=a%3D",
		`<a>; rel="prev", <b?x=1,2>; rel=next`:      "b?x=1,2",
		`<a>; rel="next"; title="x", <b>; rel=last`: "a",
		`<a>; rel="prev"`:                           "",
		`a; rel="next"`:                             "",
		"":                                          "",
	} {
		if got := nextLink(header); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}

// What a hub lists never names a place outside the folder.
func FuzzListing(f *testing.F) {
	f.Add([]byte(`[{"type":"file","path":"a/b","size":3,"oid":"0123456789012345678901234567890123456789"},{"type":"directory","path":"a"}]`))
	f.Add([]byte(`[{"type":"file","path":"../b","size":3,"oid":"x","lfs":{"oid":"..","size":-9}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var entries []treeEntry
		if json.Unmarshal(data, &entries) != nil {
			return
		}
		files, err := filesOf(entries)
		if err != nil {
			return
		}
		for _, file := range files {
			at := filepath.Join("/root/of/files", filepath.FromSlash(file.Path))
			if !strings.HasPrefix(at, "/root/of/files/") || file.Size < -1 || strings.ContainsAny(file.ETag(), "/.\\") {
				t.Fatalf("%+v", file)
			}
		}
	})
}

// Marks left by a kill, or damaged, never claim bytes that are not there.
func FuzzMarks(f *testing.F) {
	f.Add([]byte("100 \"etag\"\n0 100\n3 50\n"))
	f.Add([]byte("1 \"\"\n-1 5\n99999 1\n0 9999999999\n"))
	f.Fuzz(func(t *testing.T, marks []byte) {
		const size, length = 1000, 640
		p := &partial{size: size, chunks: split(size, 300)}
		p.readMarks(bytes.NewReader(marks), length)
		end := int64(0)
		for _, c := range p.chunks {
			if c.start != end || c.have < 0 || c.have > c.length || c.have > 0 && c.start+c.have > length {
				t.Fatalf("%+v", p.chunks)
			}
			end = c.start + c.length
		}
		if end != size {
			t.Fatalf("chunks end at %d", end)
		}
	})
}

func FuzzKeptListing(f *testing.F) {
	f.Add([]byte(`{"format_version":1,"files":{"a":{"size":3,"blob_id":"0123456789012345678901234567890123456789"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		folder := t.TempDir()
		path := treePath(folder, "sha")
		writeForTest(t, path, data)
		l, err := keptListing(folder, Repo{}, "sha")
		for _, file := range l.Files {
			if err == nil && (!safePath(file.Path) || file.ETag() == "" && file.Size >= 0) {
				t.Fatalf("%+v", file)
			}
		}
	})
}

// A name from outside, and what a cache's ref holds, lead to no place outside
// that repository's folder.
func FuzzRefs(f *testing.F) {
	const sha = "0123456789abcdef0123456789abcdef01234567"
	f.Add("a/b", []byte(sha))
	f.Add("hub:datasets/a/b@refs/pr/1", []byte(sha+"\n"))
	f.Add("a/b@../../../x", []byte("../../.."))
	f.Add("a/b@x/./y//z", []byte(""))
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, name string, ref []byte) {
		r, err := ParseRef(name, "main")
		if err != nil {
			return
		}
		base := filepath.Join(root, repoFolder(r))
		path := filepath.Join(base, "refs", filepath.FromSlash(r.Revision))
		if filepath.Dir(base) != root || !strings.HasPrefix(path, filepath.Join(base, "refs")+string(filepath.Separator)) {
			t.Fatalf("%q leads to %s", name, path)
		}
		if len(path) > 200 {
			return // no file system has it
		}
		defer os.RemoveAll(base)
		writeForTest(t, path, ref)
		if err := os.MkdirAll(filepath.Join(base, "snapshots", sha), 0o755); err != nil {
			t.Fatal(err)
		}
		dir, commit, err := Snapshot(root, r)
		if err == nil && (filepath.Base(dir) != commit || filepath.Dir(dir) != filepath.Join(base, "snapshots")) {
			t.Fatalf("%q and %q lead to %s", name, ref, dir)
		}
	})
}
