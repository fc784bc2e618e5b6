package hub_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coderl/cr/datasets/hub"
	"github.com/coderl/cr/datasets/hub/serve"
)

// million is the file of most tests here.
var million = noise(1_000_000, 3)

func oneFile(t *testing.T) *site {
	return newSite(t, map[string][]byte{"model.safetensors": million}, serve.Options{})
}

// onBody meddles with the requests for bytes alone and counts them.
func (s *site) onBody(f func(n int, w http.ResponseWriter, r *http.Request, next http.Handler)) {
	var count atomic.Int64
	s.meddle = func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method != http.MethodGet || !isContent(r) {
			next.ServeHTTP(w, r)
			return
		}
		f(int(count.Add(1)), w, r, next)
	}
}

// withoutRange makes the server ignore what part is asked for.
func withoutRange(r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	r.Header.Del("Range")
	return r
}

// A server may drop, ignore ranges, lie about them, corrupt, compress or be
// busy: the file is right in the end, at the price stated.
func TestFaults(t *testing.T) {
	type body = func(n int, w http.ResponseWriter, r *http.Request, next http.Handler)
	status := func(code int, header ...string) body {
		return func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n > 2 {
				next.ServeHTTP(w, r)
				return
			}
			if len(header) > 0 {
				w.Header().Set(header[0], header[1])
			}
			w.WriteHeader(code)
		}
	}
	cases := []struct {
		name  string
		chunk int64
		body  body
		want  int // requests for bytes; 0: not counted
	}{
		{"drops, then resumes", 0, func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n == 1 {
				cut(w, r, next, 123_456)
			}
			if n == 2 && r.Header.Get("Range") != "bytes=123456-999999" || n == 2 && r.Header.Get("If-Range") != `"`+sha(million)+`"` {
				http.Error(w, "resume asked for wrongly", http.StatusTeapot)
				return
			}
			next.ServeHTTP(w, r)
		}, 2},
		// Case 7: appending whatever comes would give 2,123,456 bytes.
		{"ignores Range and sends all", 0, func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			switch n {
			case 1:
				cut(w, r, next, 123_456)
			case 2:
				cut(w, withoutRange(r), next, 999_999)
			default:
				next.ServeHTTP(w, withoutRange(r))
			}
		}, 3},
		{"Content-Range starts at 0", 0, func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n == 1 {
				cut(w, r, next, 123_456)
			}
			if r.Header.Get("Range") == "" {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Range", "bytes 0-999999/1000000")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(million)
		}, 3},
		{"wrong total in Content-Range", 100_000, func(_ int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Header.Get("Range") == "" {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Range", "bytes 0-99999/2000000")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(million[:100_000])
		}, 2},
		{"parallel chunks", 100_000, func(_ int, w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) }, 10},
		{"parallel chunks of a server without ranges", 100_000, func(_ int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			next.ServeHTTP(w, withoutRange(r))
		}, 2},
		{"every chunk drops once", 100_000, func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n%2 == 1 {
				cut(w, r, next, 50_000)
			}
			next.ServeHTTP(w, r)
		}, 0},
		{"drops all the time, but gets on", 0, func(_ int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			cut(w, r, next, 90_000)
		}, 12},
		{"416 out of the blue", 100_000, func(_ int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Header.Get("Range") != "" {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return
			}
			next.ServeHTTP(w, r)
		}, 0},
		{"corrupts once", 0, func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n == 1 {
				wrong := bytes.Clone(million)
				wrong[500_000] ^= 1
				_, _ = w.Write(wrong)
				return
			}
			next.ServeHTTP(w, r)
		}, 2},
		{"gzip unasked", 0, func(_ int, w http.ResponseWriter, r *http.Request, _ http.Handler) {
			if r.Header.Get("Accept-Encoding") != "identity" {
				http.Error(w, "no identity", http.StatusTeapot)
				return
			}
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(million)
			_ = z.Close()
		}, 1},
		{"gzip in ranges", 100_000, func(_ int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Header.Get("Range") != "" {
				w.Header().Set("Content-Encoding", "gzip")
			}
			next.ServeHTTP(w, r)
		}, 0},
		{"ETag changes under way", 0, func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			if n == 1 {
				cut(w, r, next, 123_456)
			}
			if r.Header.Get("Range") != "" { // a range of other content
				w.Header().Set("ETag", `"other"`)
				w.Header().Set("Content-Range", "bytes 123456-999999/1000000")
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(make([]byte, 1_000_000-123_456))
				return
			}
			next.ServeHTTP(w, r)
		}, 3},
		{"500", 0, status(500), 3},
		{"503 with Retry-After 0", 0, status(503, "Retry-After", "0"), 3},
		{"429 with Retry-After", 0, status(429, "Retry-After", "1"), 3},
		{"a body longer than the file", 0, func(_ int, w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			_, _ = w.Write(million)
			_, _ = w.Write(million)
		}, 1},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := oneFile(t)
			s.onBody(tc.body)
			o := quick(s.url)
			o.ChunkSize = tc.chunk
			root := t.TempDir()
			wantFile(t, mustDownload(t, client(t, o), hub.InCache(root)), "model.safetensors", million)
			if n := len(s.bodies()); tc.want != 0 && n != tc.want {
				t.Errorf("%d requests for bytes, want %d", n, tc.want)
			}
			if left := leftovers(t, root); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// What cannot be mended ends in one clear error, in few requests.
func TestHopeless(t *testing.T) {
	cases := []struct {
		name string
		body func(n int, w http.ResponseWriter, r *http.Request, next http.Handler)
		want error
		says string
		most int
	}{
		{"corrupt for ever", func(_ int, w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			_, _ = w.Write(noise(1_000_000, 8))
		}, hub.ErrChecksum, "model.safetensors: sha256", 2},
		{"416 for ever", func(_ int, w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		}, nil, "HTTP 416", 2},
		{"500 for ever", func(_ int, w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.WriteHeader(http.StatusInternalServerError)
		}, nil, "HTTP 500", 5},
		{"redirects to itself", func(_ int, w http.ResponseWriter, r *http.Request, _ http.Handler) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, hub.ErrNotHub, "loop", 10},
		{"never gets on", func(_ int, w http.ResponseWriter, r *http.Request, next http.Handler) {
			cut(w, withoutRange(r), next, 10_000)
		}, nil, "unexpected EOF", 6},
		{"unknown encoding", func(_ int, w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("Content-Encoding", "br")
		}, hub.ErrNotHub, "br", 1},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := oneFile(t)
			s.onBody(tc.body)
			root := t.TempDir()
			_, err := download(t.Context(), client(t, quick(s.url)), hub.InCache(root))
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("error %v; want %v, %q", err, tc.want, tc.says)
			}
			if n := len(s.bodies()); n > tc.most {
				t.Errorf("%d requests for bytes, want at most %d", n, tc.most)
			}
			if _, _, err := hub.Snapshot(root, model); !errors.Is(err, hub.ErrNotCached) {
				t.Errorf("a failed download counts as cached: %v", err)
			}
		})
	}
}

// Case 8: a temporary file that is complete needs no request; one that is wrong
// or too long is replaced by one whole GET.
func TestLeftover(t *testing.T) {
	content := noise(1000, 4)
	for name, tc := range map[string]struct {
		left  []byte
		asked int
	}{
		"complete": {content, 0},
		"wrong":    {noise(1000, 5), 1},
		"too long": {noise(1200, 6), 1},
		"prefix":   {content[:400], 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, map[string][]byte{"w.bin": content}, serve.Options{})
			root := t.TempDir()
			blobs := filepath.Join(root, "models--org--m", "blobs")
			writeFile(t, filepath.Join(blobs, sha(content)+".incomplete"), tc.left)
			wantFile(t, mustDownload(t, client(t, quick(s.url)), hub.InCache(root)), "w.bin", content)
			if n := len(s.bodies()); n != tc.asked {
				t.Errorf("%d requests for bytes, want %d", n, tc.asked)
			}
			if left := leftovers(t, root); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
			if name == "wrong" && s.bodies()[0].Header.Get("Range") != "" {
				t.Error("a wrong file was gone on with")
			}
		})
	}
}

// What a killed download left goes away too when another program brought the file.
func TestLeftoverOfFileThatIsThere(t *testing.T) {
	s := oneFile(t)
	root := t.TempDir()
	c := client(t, quick(s.url))
	mustDownload(t, c, hub.InCache(root))
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Skip("no program to run:", err)
	}
	blobs := filepath.Join(root, "models--org--m", "blobs")
	own := hub.OwnName(sha(million), gone.Process.Pid)
	live := hub.OwnName(sha(million), os.Getpid())
	writeFile(t, filepath.Join(blobs, own), million[:1000])
	writeFile(t, filepath.Join(blobs, live), million[:1000])
	mustDownload(t, c, hub.InCache(root))
	if left := leftovers(t, root); len(left) != 1 || filepath.Base(left[0]) != live {
		t.Errorf("left behind: %v, want a living process' file alone", left)
	}
}

// Sizes that no disk has are refused, also where their sum overflows.
func TestSizesOverflow(t *testing.T) {
	plan := hub.Plan{Listing: hub.Listing{Repo: model, Commit: strings.Repeat("a", 40)}, Target: hub.InFolder(t.TempDir())}
	for i := range 1 << 13 {
		plan.Items = append(plan.Items, hub.Item{File: hub.File{Path: strconv.Itoa(i), Size: 1 << 50, OID: strings.Repeat("b", 40)}})
	}
	if err := hub.CheckSpace(plan); !errors.Is(err, hub.ErrNoSpace) {
		t.Errorf("2^63 bytes: %v", err)
	}
}

// A download that was given up goes on where it was, chunk by chunk.
func TestResume(t *testing.T) {
	s := oneFile(t)
	s.onBody(func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if n > 4 {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
	root := t.TempDir()
	o := quick(s.url)
	o.ChunkSize, o.Jobs = 100_000, 1
	if _, err := download(t.Context(), client(t, o), hub.InCache(root)); err == nil {
		t.Fatal("no error")
	}
	s.meddle = nil
	before := len(s.bodies())
	wantFile(t, mustDownload(t, client(t, o), hub.InCache(root)), "model.safetensors", million)
	if n := len(s.bodies()) - before; n != 6 {
		t.Errorf("%d requests after the break, want the 6 chunks that were missing", n)
	}
	for _, r := range s.bodies()[before:] {
		if r.Header.Get("If-Range") != `"`+sha(million)+`"` {
			t.Errorf("If-Range %q", r.Header.Get("If-Range"))
		}
	}
	if left := leftovers(t, root); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A server that falls silent counts as one that dropped.
func TestStall(t *testing.T) {
	s := oneFile(t)
	s.onBody(func(n int, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if n > 1 {
			next.ServeHTTP(w, r)
			return
		}
		_, _ = w.Write(million[:1000])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	o := quick(s.url)
	o.Stall = 200 * time.Millisecond
	wantFile(t, mustDownload(t, client(t, o), hub.InCache(t.TempDir())), "model.safetensors", million)
}

// Case 13: without a lock that works, each of eight downloads has its own
// temporary file, and the last rename changes nothing.
func TestManyAtOnceWithoutLocks(t *testing.T) {
	content := noise(500_000, 11)
	for _, locks := range []bool{true, false} {
		t.Run(fmt.Sprint("locks ", locks), func(t *testing.T) {
			s := newSite(t, map[string][]byte{"w.bin": content, "config.json": []byte("{}")}, serve.Options{})
			s.onBody(func(_ int, w http.ResponseWriter, r *http.Request, next http.Handler) {
				time.Sleep(100 * time.Millisecond) // long enough for all to be at it
				next.ServeHTTP(w, r)
			})
			root := t.TempDir()
			if !locks {
				writeFile(t, filepath.Join(root, ".locks"), nil) // where the folder would be
			}
			errs := make(chan error, 8)
			for range 8 {
				go func() {
					_, err := download(t.Context(), client(t, quick(s.url)), hub.InCache(root))
					errs <- err
				}()
			}
			for range 8 {
				if err := <-errs; err != nil {
					t.Error(err)
				}
			}
			wantFile(t, mustDownload(t, client(t, quick(s.url)), hub.InCache(root)), "w.bin", content)
			if left := leftovers(t, root); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
			blobs, err := os.ReadDir(filepath.Join(root, "models--org--m", "blobs"))
			if err != nil || len(blobs) != 2 {
				t.Errorf("%d blobs, %v; want 2", len(blobs), err)
			}
			if n := len(s.bodies()); locks && n != 1 {
				t.Errorf("%d requests for bytes under locks, want 1", n)
			}
		})
	}
}

func TestNoSpace(t *testing.T) {
	s := oneFile(t)
	s.meddle = func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.URL.Path, "/tree/") {
			// A petabyte, less a little.
			fmt.Fprintf(w, `[{"type":"file","path":"model.safetensors","size":1125899906842623,"oid":"%040d","lfs":{"oid":"%064d","size":1125899906842623}}]`, 1, 1)
			return
		}
		next.ServeHTTP(w, r)
	}
	_, err := download(t.Context(), client(t, quick(s.url)), hub.InCache(t.TempDir()))
	if !errors.Is(err, hub.ErrNoSpace) || len(s.bodies()) != 0 {
		t.Fatalf("%v after %d requests", err, len(s.bodies()))
	}
}
