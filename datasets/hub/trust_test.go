package hub_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/coderl/cr/datasets/hub"
	"github.com/coderl/cr/datasets/hub/serve"
)

const token = "hf_secretSecretSecret"

// listener serves and records the Authorization header of every request.
type listener struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func listen(t *testing.T, h http.HandlerFunc) *listener {
	l := &listener{}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.seen = append(l.seen, r.Header.Get("Authorization"))
		l.mu.Unlock()
		h(w, r)
	}))
	t.Cleanup(l.Close)
	return l
}

func (l *listener) sawToken() (all, none bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, none = len(l.seen) > 0, true
	for _, a := range l.seen {
		all = all && a == "Bearer "+token
		none = none && !strings.Contains(a, token)
	}
	return all, none
}

// chain is endpoint A, which redirects to B, whose LFS files redirect to CDN C.
func chain(t *testing.T) (a, b, c *listener) {
	root := t.TempDir()
	writeFile(t, root+"/org/m/model.safetensors", million)
	options := serve.Options{}
	c = listen(t, func(w http.ResponseWriter, r *http.Request) { serve.New(root, options).ServeHTTP(w, r) })
	options.CDN = c.URL
	behind := serve.New(root, options)
	b = listen(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		behind.ServeHTTP(w, r)
	})
	a = listen(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, b.URL+r.URL.RequestURI(), http.StatusTemporaryRedirect)
	})
	return a, b, c
}

// Case 11.
func TestTokenGoesToTrustedOriginsAlone(t *testing.T) {
	a, b, c := chain(t)
	var log bytes.Buffer
	o := quick(a.URL)
	o.Token, o.Trusted = token, []string{b.URL}
	o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	wantFile(t, mustDownload(t, client(t, o), hub.InCache(t.TempDir())), "model.safetensors", million)
	for name, l := range map[string]*listener{"A": a, "B": b} {
		if all, _ := l.sawToken(); !all {
			t.Errorf("%s was not sent the token each time: %q", name, l.seen)
		}
	}
	if _, none := c.sawToken(); !none || len(c.seen) == 0 {
		t.Errorf("the CDN saw %q", c.seen)
	}
	if log.Len() == 0 || strings.Contains(log.String(), "Secret") {
		t.Error("the log is empty or holds the token")
	}
}

func TestUntrustedHostIsNamed(t *testing.T) {
	a, b, _ := chain(t)
	o := quick(a.URL)
	o.Token = token
	_, err := download(t.Context(), client(t, o), hub.InCache(t.TempDir()))
	host := strings.TrimPrefix(b.URL, "http://")
	if !errors.Is(err, hub.ErrUntrusted) || !strings.Contains(err.Error(), "endpoint redirected to untrusted host "+host) {
		t.Fatal(err)
	}
	if _, none := b.sawToken(); !none || strings.Contains(err.Error(), "Secret") {
		t.Errorf("B saw %q, error %v", b.seen, err)
	}
}

// A hub that echoes the token in its error does not get it into ours.
func TestTokenIsNotEchoed(t *testing.T) {
	l := listen(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Error-Message", "bad header "+r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusTeapot)
	})
	o := quick(l.URL)
	o.Token = token
	_, err := client(t, o).List(t.Context(), model)
	if err == nil || strings.Contains(err.Error(), "Secret") || !strings.Contains(err.Error(), "bad header") {
		t.Fatal(err)
	}
}

// Case 10: a mirror's own redirect keeps its query, and the redirect to the CDN
// is where the metadata is; the CDN's own headers mean something else.
func TestMirrorMetadata(t *testing.T) {
	etag := sha([]byte("0123456789"))
	cdn := listen(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"other"`)
		fmt.Fprint(w, "0123456789")
	})
	header := http.Header{"X-Linked-Etag": {`"` + etag + `"`}, "X-Linked-Size": {"10"}, "X-Repo-Commit": {"c1"}}
	mirror := listen(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/org/m/resolve/main/f":
			w.Header().Set("Location", "/cache/f?etag=abc")
			w.WriteHeader(http.StatusTemporaryRedirect)
		case r.URL.Path == "/cache/f" && r.URL.RawQuery == "etag=abc":
			for name, v := range header {
				w.Header()[name] = v
			}
			w.Header().Set("Location", cdn.URL+"/x?signature=1")
			w.WriteHeader(http.StatusFound)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	c := client(t, quick(mirror.URL))
	m, err := c.Head(t.Context(), model, "main", "f")
	if want := (hub.Metadata{Commit: "c1", ETag: etag, Size: 10}); err != nil || m != want {
		t.Fatalf("%+v, %v; want %+v", m, err, want)
	}
	if len(cdn.seen) != 0 {
		t.Error("the CDN was asked")
	}
	header = http.Header{}
	_, err = c.Head(t.Context(), model, "main", "f")
	if !errors.Is(err, hub.ErrNotHub) || !strings.Contains(err.Error(), "X-Repo-Commit") || !strings.Contains(err.Error(), cdn.URL+"/x") ||
		strings.Contains(err.Error(), "offline") || strings.Contains(err.Error(), "signature") {
		t.Fatal(err)
	}
}

// A mirror without the tree API: names from the revision, the rest from HEAD.
func TestMirrorWithoutTree(t *testing.T) {
	s := newSite(t, smallModel, serve.Options{})
	s.meddle = func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.URL.Path, "/tree/") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		next.ServeHTTP(w, r)
	}
	results := mustDownload(t, client(t, quick(s.url)), hub.InCache(t.TempDir()))
	for name, content := range smallModel {
		wantFile(t, results, name, content)
	}
}

// The hub's refusals are told apart.
func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		status int
		code   string
		token  string
		want   error
	}{
		{401, "RepoNotFound", "", hub.ErrPrivate},
		{401, "", "", hub.ErrPrivate},
		{404, "RepoNotFound", token, hub.ErrMissing},
		{401, "GatedRepo", "", hub.ErrGated},
		{403, "GatedRepo", token, hub.ErrGated},
		{401, "", token, hub.ErrBadToken},
		{404, "RevisionNotFound", "", hub.ErrNoRevision},
	} {
		l := listen(t, func(w http.ResponseWriter, _ *http.Request) {
			if tc.code != "" {
				w.Header().Set("X-Error-Code", tc.code)
			}
			w.WriteHeader(tc.status)
		})
		o := quick(l.URL)
		o.Token = tc.token
		_, err := client(t, o).List(t.Context(), model)
		if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), "org/m@main") {
			t.Errorf("%d %s token %q: %v, want %v", tc.status, tc.code, tc.token, err, tc.want)
		}
		if len(l.seen) != 1 {
			t.Errorf("%d requests", len(l.seen))
		}
	}
}

// A gated repository lists its files to everybody; the refusal comes before
// anything is fetched, in a dry run too.
func TestGatedContent(t *testing.T) {
	s := newSite(t, smallModel, serve.Options{})
	s.meddle = func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.Contains(r.URL.Path, "/resolve/") {
			w.Header().Set("X-Error-Code", "GatedRepo")
			w.WriteHeader(http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	}
	_, err := client(t, quick(s.url)).Plan(t.Context(), model, hub.InCache(t.TempDir()), hub.Selection{})
	if !errors.Is(err, hub.ErrGated) {
		t.Fatal(err)
	}
}

// Nothing a listing says gets out of the folder.
func TestHostileListing(t *testing.T) {
	oid := strings.Repeat("a", 40)
	for name, tree := range map[string]string{
		"up":         `[{"type":"file","path":"../x","size":1,"oid":"` + oid + `"}]`,
		"absolute":   `[{"type":"file","path":"/etc/x","size":1,"oid":"` + oid + `"}]`,
		"inner up":   `[{"type":"file","path":"a/../../x","size":1,"oid":"` + oid + `"}]`,
		"backslash":  `[{"type":"file","path":"..\\x","size":1,"oid":"` + oid + `"}]`,
		"terminal":   `[{"type":"file","path":"\u001b[2Jx","size":1,"oid":"` + oid + `"}]`,
		"C1":         `[{"type":"file","path":"\u009b2Jx","size":1,"oid":"` + oid + `"}]`,
		"notes":      `[{"type":"file","path":".cache/huggingface/x","size":1,"oid":"` + oid + `"}]`,
		"oid":        `[{"type":"file","path":"x","size":1,"oid":"../../x"}]`,
		"lfs oid":    `[{"type":"file","path":"x","size":1,"oid":"` + oid + `","lfs":{"oid":"..","size":1}}]`,
		"size":       `[{"type":"file","path":"x","size":-5,"oid":"` + oid + `"}]`,
		"empty path": `[{"type":"file","path":"","size":1,"oid":"` + oid + `"}]`,
		"no list":    `{"error":"x"}`,
	} {
		l := listen(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/tree/") {
				fmt.Fprint(w, tree)
				return
			}
			fmt.Fprintf(w, `{"sha": %q}`, oid)
		})
		if _, err := client(t, quick(l.URL)).List(t.Context(), model); !errors.Is(err, hub.ErrNotHub) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Pages without end.
	n := 0
	l := listen(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/tree/") {
			n++
			w.Header().Set("Link", fmt.Sprintf(`<%s?cursor=%d>; rel="next"`, r.URL.Path, n))
			fmt.Fprint(w, `[]`)
			return
		}
		fmt.Fprintf(w, `{"sha": %q}`, oid)
	})
	if _, err := client(t, quick(l.URL)).List(t.Context(), model); !errors.Is(err, hub.ErrNotHub) {
		t.Errorf("endless pages: %v", err)
	}
	// A page that names itself as the next.
	asked := 0
	l = listen(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/tree/") {
			asked++
			w.Header().Set("Link", fmt.Sprintf(`<%s>; rel="next"`, r.URL.RequestURI()))
			fmt.Fprint(w, `[]`)
			return
		}
		fmt.Fprintf(w, `{"sha": %q}`, oid)
	})
	if _, err := client(t, quick(l.URL)).List(t.Context(), model); !errors.Is(err, hub.ErrNotHub) || asked > 2 {
		t.Errorf("a circle of pages: %v after %d requests", err, asked)
	}
}

// What a server says of an error cannot speak to the terminal.
func TestErrorMessageIsPlain(t *testing.T) {
	l := listen(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Error-Message", "no\u009b2Jway"+strings.Repeat("x", 5000))
		w.WriteHeader(http.StatusTeapot)
	})
	_, err := client(t, quick(l.URL)).List(t.Context(), model)
	if err == nil || !strings.Contains(err.Error(), "no 2Jway") || len(err.Error()) > 1000 {
		t.Errorf("%.2000q", err)
	}
}

// A redirect's address may hold a signature: it is shown to nobody, not even
// where it cannot be parsed.
func TestLocationIsNotShown(t *testing.T) {
	s := oneFile(t)
	for _, location := range []string{"http://cdn.invalid/%?X-Signature=" + token, "ftp://cdn.invalid/?X-Signature=" + token} {
		var log bytes.Buffer
		asked := 0
		s.meddle = func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if !strings.Contains(r.URL.Path, "/resolve/") {
				next.ServeHTTP(w, r)
				return
			}
			asked++
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusFound)
		}
		o := quick(s.url)
		o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		_, err := download(t.Context(), client(t, o), hub.InCache(t.TempDir()))
		if !errors.Is(err, hub.ErrNotHub) || strings.Contains(err.Error()+log.String(), token) || asked != 1 {
			t.Errorf("%s: %v after %d requests\n%s", location, err, asked, &log)
		}
	}
}
