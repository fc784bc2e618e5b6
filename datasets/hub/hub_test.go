package hub_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coderl/cr/datasets/hub"
	"github.com/coderl/cr/datasets/hub/serve"
)

// site is a hub with one model, org/m, whose requests tests may meddle with.
type site struct {
	t       *testing.T
	dir     string // of the repository
	url     string
	handler http.Handler

	mu       sync.Mutex
	requests []*http.Request
	meddle   func(w http.ResponseWriter, r *http.Request, next http.Handler)
}

// newSite serves files, path to content.
func newSite(t *testing.T, files map[string][]byte, options serve.Options) *site {
	t.Helper()
	root := t.TempDir()
	s := &site{t: t, dir: filepath.Join(root, "org", "m")}
	for name, content := range files {
		writeFile(t, filepath.Join(s.dir, name), content)
	}
	s.handler = serve.New(root, options)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Clone(context.Background()))
	meddle := s.meddle
	s.mu.Unlock()
	if meddle != nil {
		meddle(w, r, s.handler)
		return
	}
	s.handler.ServeHTTP(w, r)
}

// bodies are the requests made for file contents so far.
func (s *site) bodies() (found []*http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if r.Method == http.MethodGet && isContent(r) {
			found = append(found, r)
		}
	}
	return found
}

// isContent recognises the request that is answered with a file's bytes.
func isContent(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/content/")
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// noise is n bytes that no compression and no repetition hides.
func noise(n int, seed uint64) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(seed), 1})
	_, _ = r.Read(b)
	return b
}

func sha(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// quick are options for tests: no real waiting.
func quick(url string) hub.Options {
	return hub.Options{Endpoint: url, Wait: time.Millisecond, Stall: 5 * time.Second}
}

func client(t *testing.T, o hub.Options) *hub.Client {
	t.Helper()
	c, err := hub.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

var model = hub.Repo{Kind: hub.Models, Name: "org/m", Revision: "main"}

// download gets org/m whole.
func download(ctx context.Context, c *hub.Client, to hub.Target) ([]hub.Result, error) {
	plan, err := c.Plan(ctx, model, to, hub.Selection{})
	if err != nil {
		return nil, err
	}
	return c.Run(ctx, plan, func(hub.Event) {})
}

func mustDownload(t *testing.T, c *hub.Client, to hub.Target) []hub.Result {
	t.Helper()
	results, err := download(t.Context(), c, to)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// wantFile compares a result with the content that was served.
func wantFile(t *testing.T, results []hub.Result, name string, content []byte) {
	t.Helper()
	for _, r := range results {
		if r.Path != name {
			continue
		}
		got, err := os.ReadFile(r.File)
		if err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%s: %d bytes, %v; want %d", name, len(got), err, len(content))
		}
		if r.SHA256 != sha(content) || r.Size != int64(len(content)) {
			t.Fatalf("%s: result %+v", name, r)
		}
		return
	}
	t.Fatalf("%s is not among %+v", name, results)
}

// leftovers are the temporary files below dir.
func leftovers(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.Contains(path, ".incomplete") || strings.Contains(path, ".parts") || strings.HasPrefix(d.Name(), ".link-")) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// cut passes an answer on up to n bytes of its body and then drops the
// connection.
func cut(w http.ResponseWriter, r *http.Request, next http.Handler, n int) {
	recorded := httptest.NewRecorder()
	next.ServeHTTP(recorded, r)
	for name, values := range recorded.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(recorded.Code)
	body := recorded.Body.Bytes()
	_, _ = w.Write(body[:min(n, len(body))])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

var smallModel = map[string][]byte{
	"config.json":               []byte(`{"a": 1}`),
	"sub/dir/notes.txt":         []byte("deep\n"),
	"empty.txt":                 {},
	"model.safetensors":         noise(300_000, 1),
	"sub/other name ä+%.bin":    noise(1000, 2),
	"tokenizer/special?#&.json": []byte("{}"),
}

func TestDownloadIntoCache(t *testing.T) {
	s := newSite(t, smallModel, serve.Options{PageSize: 2})
	root := t.TempDir()
	o := quick(s.url)
	o.ChunkSize = 50_000
	c := client(t, o)
	results := mustDownload(t, c, hub.InCache(root))
	if len(results) != len(smallModel) {
		t.Fatalf("%d files, want %d", len(results), len(smallModel))
	}
	for name, content := range smallModel {
		wantFile(t, results, name, content)
	}
	dir, commit, err := hub.Snapshot(root, model)
	if err != nil || len(commit) != 40 {
		t.Fatal(dir, commit, err)
	}
	// The layout: a relative link to a blob named by the LFS hash.
	link, err := os.Readlink(filepath.Join(dir, "model.safetensors"))
	if want := "../../blobs/" + sha(smallModel["model.safetensors"]); err != nil || link != want {
		t.Fatalf("link %q, %v; want %q", link, err, want)
	}
	link, err = os.Readlink(filepath.Join(dir, "sub/dir/notes.txt"))
	// git hash-object of "deep\n"
	if want := "../../../../blobs/4cdb2265d30204be5463b38174b2e8e717982405"; err != nil || link != want {
		t.Fatalf("link %q, %v", link, err)
	}
	if left := leftovers(t, root); len(left) != 0 {
		t.Fatalf("left behind: %v", left)
	}
	before := len(s.bodies())
	for _, r := range mustDownload(t, c, hub.InCache(root)) {
		if r.Fetched {
			t.Errorf("%s was fetched again", r.Path)
		}
	}
	if now := len(s.bodies()); now != before {
		t.Errorf("%d requests for bodies the second time", now-before)
	}
}

func TestDownloadIntoFolder(t *testing.T) {
	s := newSite(t, smallModel, serve.Options{})
	dir := t.TempDir()
	c := client(t, quick(s.url))
	// A right file that nobody noted is taken as it is, a wrong one replaced.
	writeFile(t, filepath.Join(dir, "config.json"), smallModel["config.json"])
	writeFile(t, filepath.Join(dir, "model.safetensors"), noise(300_000, 9))
	results := mustDownload(t, c, hub.InFolder(dir))
	for name, content := range smallModel {
		wantFile(t, results, name, content)
	}
	for _, r := range results {
		if r.Fetched != (r.Path != "config.json") {
			t.Errorf("%s: fetched %v", r.Path, r.Fetched)
		}
	}
	if left := leftovers(t, dir); len(left) != 0 {
		t.Fatalf("left behind: %v", left)
	}
	// A change on the hub replaces the one file.
	changed := []byte(`{"a": 2}`)
	writeFile(t, filepath.Join(s.dir, "config.json"), changed)
	results = mustDownload(t, c, hub.InFolder(dir))
	wantFile(t, results, "config.json", changed)
	for _, r := range results {
		if r.Fetched != (r.Path == "config.json") {
			t.Errorf("after the change: %s: fetched %v", r.Path, r.Fetched)
		}
	}
}

func TestRecheck(t *testing.T) {
	s := newSite(t, smallModel, serve.Options{})
	root := t.TempDir()
	c := client(t, quick(s.url))
	results := mustDownload(t, c, hub.InCache(root))
	for _, r := range results {
		if r.Path == "model.safetensors" { // bit rot: same size, other bytes
			blob, err := filepath.EvalSymlinks(r.File)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, blob, noise(300_000, 7))
		}
	}
	plan, err := c.Plan(t.Context(), model, hub.InCache(root), hub.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := c.Recheck(t.Context(), &plan)
	if err != nil || len(wrong) != 1 || wrong[0] != "model.safetensors" {
		t.Fatalf("%v, %v", wrong, err)
	}
	results, err = c.Run(t.Context(), plan, func(hub.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, results, "model.safetensors", smallModel["model.safetensors"])
}

func TestOffline(t *testing.T) {
	s := newSite(t, smallModel, serve.Options{})
	root := t.TempDir()
	mustDownload(t, client(t, quick(s.url)), hub.InCache(root))
	o := quick(s.url)
	o.Offline = true
	c := client(t, o)
	before := len(s.requests)
	results := mustDownload(t, c, hub.InCache(root))
	wantFile(t, results, "model.safetensors", smallModel["model.safetensors"])
	if len(s.requests) != before {
		t.Error("a request was made offline")
	}
	if _, err := download(t.Context(), c, hub.InCache(t.TempDir())); !isAll(err, hub.ErrOffline, hub.ErrNotCached) {
		t.Errorf("empty cache: %v", err)
	}
	if err := os.Remove(results[0].File); err != nil {
		t.Fatal(err)
	}
	blob := filepath.Dir(filepath.Dir(filepath.Dir(results[0].File)))
	if err := os.RemoveAll(filepath.Join(blob, "blobs")); err != nil {
		t.Fatal(err)
	}
	if _, err := download(t.Context(), c, hub.InCache(root)); !isAll(err, hub.ErrOffline, hub.ErrNotCached) {
		t.Errorf("half a cache: %v", err)
	}
}

func TestSelect(t *testing.T) {
	// The answers are Python's fnmatch.fnmatchcase.
	cases := []struct {
		include, exclude, path string
		want                   bool
	}{
		{"", "", "a/b", true},
		{"*.json", "", "a/b.json", true},
		{"*.json", "", "b.jsonl", false},
		{"sub/", "", "sub/x/y", true},
		{"sub/", "", "sub", false},
		{"", "*.bin", "x.bin", false},
		{"model-0000[1-2]*", "", "model-00002-of-3", true},
		{"model-0000[!1-2]*", "", "model-00002-of-3", false},
		{"[]]", "", "]", true},
		{"[!]]", "", "]", false},
		{"a[", "", "a[", true},
		{"[!", "", "[!", true},
		{"[", "", "[", true},
		{"?.txt", "", "ä.txt", true},
		{"a.b", "", "axb", false},
	}
	for _, c := range cases {
		one := func(p string) []string {
			if p == "" {
				return nil
			}
			return []string{p}
		}
		s, err := hub.Select(one(c.include), one(c.exclude))
		if err != nil || s.Match(c.path) != c.want {
			t.Errorf("%+v: %v, %v", c, s.Match(c.path), err)
		}
	}
}
