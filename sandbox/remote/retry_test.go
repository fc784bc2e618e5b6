package remote_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/remote"
	"github.com/coderl/cr/sandbox/service"
)

var hello = sandbox.Job{Language: "python", Code: "print('hello')"}

// TestTriedAgain: what passes is waited out.
func TestTriedAgain(t *testing.T) {
	good := ran("Success", `"Finished"`, "0", `"hello\n"`, `""`)
	for name, fail := range map[string]func(w http.ResponseWriter){
		"429": func(w http.ResponseWriter) { w.Header().Set("Retry-After", "0"); w.WriteHeader(429) },
		"500": func(w http.ResponseWriter) { w.WriteHeader(500) },
		"502": func(w http.ResponseWriter) { w.WriteHeader(502) },
		"503": func(w http.ResponseWriter) { w.Header().Set("Retry-After", "yesterday"); w.WriteHeader(503) },
		"a broken connection": func(w http.ResponseWriter) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.Close()
		},
		"half an answer": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, good[:20])
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, scripted(func(n int, w http.ResponseWriter, _ *http.Request) {
				if n < 2 {
					fail(w)
					return
				}
				_, _ = io.WriteString(w, good)
			}), remote.Options{})
			got, err := c.Run(t.Context(), hello)
			if err != nil || string(got.Stdout) != "hello\n" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// TestGivenUp: what does not pass is an error, soon.
func TestGivenUp(t *testing.T) {
	for _, tt := range []struct {
		code, most int // requests that the service may see
		want       string
	}{
		{500, 3, "500"},
		{400, 1, "400 Bad Request: why"},
		{413, 1, "413"},
		{422, 1, "422"},
		{501, 1, "501"},
		{401, 1, "refuses the token"},
	} {
		var seen atomic.Int32
		c := connect(t, scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
			seen.Add(1)
			w.WriteHeader(tt.code)
			_, _ = io.WriteString(w, "why")
		}), remote.Options{})
		_, err := c.Run(t.Context(), hello)
		if err == nil || !strings.Contains(err.Error(), tt.want) || int(seen.Load()) != tt.most {
			t.Errorf("%d: after %d requests %v", tt.code, seen.Load(), err)
		}
		if errors.Is(err, remote.ErrToken) != (tt.code == 401) {
			t.Errorf("%d: %v", tt.code, err)
		}
		if errors.Is(err, remote.ErrUnfit) != (tt.code == 400 || tt.code == 413 || tt.code == 422) {
			t.Errorf("%d: %v", tt.code, err)
		}
	}
}

// TestPatience: a service that stays away is an error once the time is up.
func TestPatience(t *testing.T) {
	c := connect(t, scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}), remote.Options{Patience: time.Millisecond})
	job := hello
	job.Limits = sandbox.Limits{CPU: time.Millisecond}
	if _, err := c.Run(t.Context(), job); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("got %v", err)
	}
}

// TestSlow: so is one that takes a request and says nothing.
func TestSlow(t *testing.T) {
	c := connect(t, scripted(func(_ int, _ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}), remote.Options{Patience: time.Millisecond})
	job := hello
	job.Limits = sandbox.Limits{CPU: time.Millisecond}
	if _, err := c.Run(t.Context(), job); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestNobodyThere(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = remote.Open(t.Context(), remote.Options{URL: url, Patience: time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "connection refused") || !strings.Contains(err.Error(), url) {
		t.Errorf("got %v", err)
	}
	for _, bad := range []string{"", "host:80", "ftp://host", "http://", "http://a b"} {
		if _, err := remote.Open(t.Context(), remote.Options{URL: bad}); err == nil || !strings.Contains(err.Error(), "http(s) URL") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestNotAService: something answers, but it is no sandbox.
func TestNotAService(t *testing.T) {
	for name, tt := range map[string]struct {
		h    http.Handler
		want string
	}{
		"no such path": {http.NotFoundHandler(), "no ScaleBox service"},
		"a web page":   {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }), "makes no sense"},
		"no Python": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, ran("Failed", `"Finished"`, "2", `""`, `"broken"`))
		}), "a small Python program failed"},
		"a sandbox that cannot": {ownService(fake(func(context.Context, sandbox.Job) (sandbox.Result, error) {
			return sandbox.Result{}, errors.New("no lane")
		})), "no lane"},
	} {
		if _, err := open(t, tt.h, remote.Options{Patience: time.Millisecond}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestToken: one that is missing or wrong is told at once, by either kind.
func TestToken(t *testing.T) {
	echo := fake(func(_ context.Context, job sandbox.Job) (sandbox.Result, error) {
		return sandbox.Result{Status: sandbox.OK, Stdout: []byte("42\n")}, nil
	})
	own := service.New(echo, service.Config{Workers: 1, Token: "secret"}).Handler()
	for _, h := range []http.Handler{own, plain(t, own)} {
		for _, token := range []string{"", "wrong"} {
			if _, err := open(t, h, remote.Options{Token: token}); !errors.Is(err, remote.ErrToken) {
				t.Errorf("%q: %v", token, err)
			}
		}
	}
}

// TestCanceled: a run that nobody waits for ends, in the queue, at the service,
// and between two tries.
func TestCanceled(t *testing.T) {
	for name, h := range map[string]func(w http.ResponseWriter, r *http.Request){
		"at the service": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		},
		"between": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "60"); w.WriteHeader(429) },
	} {
		t.Run(name, func(t *testing.T) {
			arrived := make(chan struct{}, 1)
			c := connect(t, scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
				arrived <- struct{}{}
				h(w, r)
			}), remote.Options{Parallel: 1})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 2)
			for range 2 {
				go func() {
					_, err := c.Run(ctx, hello)
					ended <- err
				}()
			}
			<-arrived
			cancel()
			for range 2 {
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

// TestParallel: no more programs are there at a time than the service runs twice
// over, or than was asked for.
func TestParallel(t *testing.T) {
	for _, tt := range []struct{ workers, parallel, want int }{{1, 0, 2}, {3, 0, 6}, {1, 5, 5}} {
		var now, most atomic.Int32
		full := make(chan struct{})
		exec := fake(func(_ context.Context, job sandbox.Job) (sandbox.Result, error) {
			return sandbox.Result{Status: sandbox.OK, Stdout: append([]byte("42\n"), job.Stdin...)}, nil
		})
		s := service.New(exec, service.Config{Workers: tt.workers}).Handler()
		var opened atomic.Bool
		var once sync.Once
		c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path != "/run_code":
			case !opened.Swap(true): // the probe
				_, _ = io.WriteString(w, ran("Success", `"Finished"`, "0", `"3.10.14 probe\n"`, `""`))
				return
			default:
				n := now.Add(1)
				defer now.Add(-1)
				for {
					old := most.Load()
					if n <= old || most.CompareAndSwap(old, n) {
						break
					}
				}
				if int(n) == tt.want {
					once.Do(func() { close(full) })
				}
				<-full
			}
			s.ServeHTTP(w, r)
		}), remote.Options{Parallel: tt.parallel})
		ended := make(chan error)
		const jobs = 12
		for range jobs {
			go func() {
				_, err := c.Run(t.Context(), hello)
				ended <- err
			}()
		}
		for range jobs {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if int(most.Load()) != tt.want {
			t.Errorf("%+v: %d at a time", tt, most.Load())
		}
	}
}
