package remote_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/remote"
	"github.com/coderl/cr/sandbox/service"
)

func TestMain(m *testing.M) {
	sandbox.MaybeRunStub()
	os.Exit(m.Run())
}

// openLocal starts the local sandbox, or skips where the host cannot isolate.
func openLocal(t *testing.T) *sandbox.Local {
	t.Helper()
	local, err := sandbox.NewLocal(sandbox.LocalOptions{Workers: 2})
	if errors.Is(err, sandbox.ErrNoIsolation) {
		t.Skipf("this host cannot isolate programs: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := local.Close(); err != nil {
			t.Errorf("close the sandbox: %v", err)
		}
	})
	return local
}

// ownService serves exec as cr sandbox serve does.
func ownService(exec sandbox.Executor) http.Handler {
	return service.New(exec, service.Config{Workers: 2}).Handler()
}

// plain makes of cr's service one that knows no more than ScaleBox: it has no
// /healthz, and a request with cr's extension is a mistake.
func plain(t *testing.T, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		switch {
		case r.URL.Path == "/healthz":
			http.NotFound(w, r)
			return
		case strings.Contains(string(body), `"cr":`):
			t.Errorf("a foreign service was sent the extension: %s", body)
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		next.ServeHTTP(w, r)
	})
}

// connect opens a client of a handler.
func connect(t *testing.T, h http.Handler, o remote.Options) *remote.Client {
	t.Helper()
	c, err := open(t, h, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func open(t *testing.T, h http.Handler, o remote.Options) (*remote.Client, error) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	o.URL = server.URL
	return remote.Open(t.Context(), o)
}

// fake is an executor that answers by a function.
type fake func(context.Context, sandbox.Job) (sandbox.Result, error)

func (f fake) Run(ctx context.Context, job sandbox.Job) (sandbox.Result, error) { return f(ctx, job) }

func (fake) Isolation() sandbox.Isolation {
	return sandbox.Isolation{Tier: "T1", Layers: []string{"seccomp"}, Interpreter: "3.12.1"}
}
func (fake) Close() error { return nil }

// scripted is a service that answers /run_code by a function, after the probe of
// Open. The function gets the number of the request, from 0.
func scripted(answer func(n int, w http.ResponseWriter, r *http.Request)) http.Handler {
	n := make(chan int, 1)
	n <- -1
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/run_code" {
			http.NotFound(w, r)
			return
		}
		i := <-n
		n <- i + 1
		if i < 0 {
			_, _ = io.WriteString(w, ran("Success", `"Finished"`, "0", `"3.10.14 probe\n"`, `""`))
			return
		}
		answer(i, w, r)
	})
}

// ran is an answer in the recorded shape.
func ran(status, run, code, stdout, stderr string) string {
	return `{"status":"` + status + `","message":"","compile_result":null,"run_result":{"status":` + run +
		`,"execution_time":0.0359,"return_code":` + code + `,"stdout":` + stdout + `,"stderr":` + stderr +
		`},"executor_pod_name":null,"files":{}}`
}
