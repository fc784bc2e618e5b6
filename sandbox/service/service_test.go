package service

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
)

const hello = `{"language":"python","code":"print(1)"}`

func TestToken(t *testing.T) {
	_, url := serve(t, fake(echo), Config{Token: "secret"})
	for _, tt := range []struct {
		path, header string
		want         int
	}{
		{"/run_code", "", 401},
		{"/run_code", "Bearer wrong", 401},
		{"/run_code", "Bearer secre", 401},
		{"/run_code", "Basic secret", 401},
		{"/run_code", "secret", 401},
		{"/run_code", "Bearer secret", 200},
		{"/run_code", "bearer secret", 200},
		{"/run_jupyter", "", 401},
	} {
		got := send(t, http.MethodPost, url+tt.path, hello, "Authorization", tt.header)
		if got.code != tt.want {
			t.Errorf("%s with %q: got %d, want %d", tt.path, tt.header, got.code, tt.want)
		}
		if got.code == 401 && got.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: no challenge", tt.path)
		}
	}
	for path, want := range map[string]int{"/metrics": 401, "/": 401, "/v1/ping": 200} {
		if got := send(t, http.MethodGet, url+path, ""); got.code != want {
			t.Errorf("%s without a token: got %d, want %d", path, got.code, want)
		}
	}
}

func TestFullHouse(t *testing.T) {
	start, stop := make(chan struct{}), make(chan struct{})
	slow := fake(func(ctx context.Context, job sandbox.Job) (sandbox.Result, error) {
		start <- struct{}{}
		<-stop
		return echo(ctx, job)
	})
	_, url := serve(t, slow, Config{Workers: 1, MaxPending: 1})
	first := make(chan int)
	go func() { first <- post(t, url+"/run_code", hello).code }()
	<-start
	got := post(t, url+"/run_code", hello)
	if got.code != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
		t.Errorf("got %d, Retry-After %q", got.code, got.header.Get("Retry-After"))
	}
	close(stop)
	if code := <-first; code != http.StatusOK {
		t.Errorf("the first request got %d", code)
	}
}

func TestSizeLimits(t *testing.T) {
	_, url := serve(t, fake(echo), Config{MaxBody: 1000})
	long := `{"language":"python","code":"` + strings.Repeat("x", 1000) + `"}`
	if got := post(t, url+"/run_code", long); got.code != http.StatusRequestEntityTooLarge {
		t.Errorf("got %d", got.code)
	}
	// A body that does not say how long it is.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/run_code", io.MultiReader(strings.NewReader(long)))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("chunked: got %d", response.StatusCode)
	}
}

func TestOtherSitesAreRefused(t *testing.T) {
	_, url := serve(t, fake(echo), Config{})
	got := send(t, http.MethodPost, url+"/run_code", hello, "Sec-Fetch-Site", "cross-site", "Origin", "https://example.com")
	if got.code != http.StatusForbidden {
		t.Errorf("got %d", got.code)
	}
}

// TestFilesInEachOther names a file that is also another's directory: the client's
// fault, not the sandbox's.
func TestFilesInEachOther(t *testing.T) {
	_, url := serve(t, fake(echo), Config{})
	got := post(t, url+"/run_code", object{
		"language": "python", "code": "1", "files": object{"a/b": "", "a/b/c/d": "", "e": ""},
	})
	if got.code != http.StatusUnprocessableEntity || !strings.Contains(string(got.body), "a/b") {
		t.Errorf("got %d %s", got.code, got.body)
	}
}

// TestReboundNamesAreRefused sends what a browser sends for a page whose name has
// been pointed at this host: to the browser it is the same site.
func TestReboundNamesAreRefused(t *testing.T) {
	for _, row := range []struct {
		host, token string
		want        int
	}{
		{"pages.example:8080", "", http.StatusForbidden},
		{"pages.example:8080", "secret", http.StatusOK},
		{"localhost:8080", "", http.StatusOK},
		{"127.0.0.1:8080", "", http.StatusOK},
		{"[::1]:8080", "", http.StatusOK},
	} {
		r := httptest.NewRequest(http.MethodPost, "/run_code", strings.NewReader(hello))
		r.Host = row.host
		r.Header.Set("Origin", "http://"+row.host)
		r.Header.Set("Authorization", "Bearer "+row.token)
		w := httptest.NewRecorder()
		New(fake(echo), Config{Token: row.token}).Handler().ServeHTTP(w, r)
		if w.Code != row.want {
			t.Errorf("%s, token %q: got %d, want %d", row.host, row.token, w.Code, row.want)
		}
	}
}

// TestDrain ends a service while a request is in it.
func TestDrain(t *testing.T) {
	start, stop := make(chan struct{}), make(chan struct{})
	slow := fake(func(ctx context.Context, job sandbox.Job) (sandbox.Result, error) {
		close(start)
		<-stop
		return sandbox.Result{Status: sandbox.OK, Stdout: []byte("done")}, ctx.Err()
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(slow, Config{Workers: 1})
	ctx, signal := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	url := "http://" + listener.Addr().String()
	inside := make(chan answer, 1)
	go func() { inside <- post(t, url+"/run_code", hello) }()
	<-start
	signal()
	for _, draining := s.admission.state(); !draining; _, draining = s.admission.state() {
		time.Sleep(time.Millisecond)
	}
	close(stop)
	if got := <-inside; got.code != http.StatusOK || !strings.Contains(string(got.body), "done") {
		t.Errorf("the request that was in got %d %s", got.code, got.body)
	}
	if err := <-ended; err != nil {
		t.Errorf("serve: %v", err)
	}
	if _, err := net.Dial("tcp", listener.Addr().String()); err == nil {
		t.Error("it still listens")
	}
}

func TestRefusedWhileDraining(t *testing.T) {
	s, url := serve(t, fake(echo), Config{})
	s.Drain()
	if got := post(t, url+"/run_code", hello); got.code != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("got %d %s", got.code, got.body)
	}
}

// TestGoneClientsFreeTheirSlot hangs up while a program runs.
func TestGoneClientsFreeTheirSlot(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	exec := fake(func(ctx context.Context, job sandbox.Job) (sandbox.Result, error) {
		close(started)
		<-ctx.Done()
		close(ended)
		return sandbox.Result{}, ctx.Err()
	})
	s, url := serve(t, exec, Config{Workers: 1})
	ctx, hangUp := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/run_code", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-started
		hangUp()
	}()
	if response, err := http.DefaultClient.Do(r); err == nil {
		t.Errorf("got %d", response.StatusCode)
		response.Body.Close()
	}
	<-ended
	if err := s.gate.acquire(t.Context(), "next"); err != nil {
		t.Fatal(err)
	}
	s.gate.release()
}

func TestHealth(t *testing.T) {
	var runs atomic.Int64
	says := atomic.Pointer[string]{}
	right, wrong := "42\n", "41\n"
	says.Store(&right)
	s, url := serve(t, fake(func(context.Context, sandbox.Job) (sandbox.Result, error) {
		runs.Add(1)
		return sandbox.Result{Status: sandbox.OK, Stdout: []byte(*says.Load())}, nil
	}), Config{})
	check := func(code int, want string) {
		t.Helper()
		got := send(t, http.MethodGet, url+"/healthz", "")
		if got.code != code || !strings.Contains(string(got.body), want) {
			t.Errorf("got %d %s, want %d %s", got.code, got.body, code, want)
		}
	}
	check(200, `"status":"ok"`)
	check(200, `"tier":"fake"`)
	if runs.Load() != 1 {
		t.Errorf("two checks in a row ran %d programs", runs.Load())
	}
	says.Store(&wrong)
	s.health.at = time.Time{} // as if a second had passed
	check(503, `"status":"failing"`)
	says.Store(&right)
	s.health.at = time.Time{}
	s.Drain()
	check(503, `"status":"draining"`)
}

func TestFaultsOfOursSayNothingOfPrograms(t *testing.T) {
	broken := errors.New("no lane today")
	quiet := slog.New(slog.DiscardHandler)
	_, url := serve(t, fake(func(_ context.Context, job sandbox.Job) (sandbox.Result, error) {
		if string(job.Stdin) == "2" {
			return sandbox.Result{}, broken
		}
		return echo(t.Context(), job)
	}), Config{Workers: 2, Log: quiet})
	e := post(t, url+"/common_evaluate_batch", batch("x", []string{"1", "2", "3"}, []string{"1", "2", "3"}, object{"run_all_cases": true})).eval(t)
	if e.Accepted || len(e.Tests) != 3 || !e.Tests[0].Passed || e.Tests[1].Passed || !e.Tests[2].Passed {
		t.Fatalf("got %+v", e)
	}
	if info := e.Tests[1].ExecInfo; info.Status != sandboxError || info.RunResult != nil || !strings.Contains(info.Message, "no lane today") {
		t.Errorf("got %+v", info)
	}
	if got := send(t, http.MethodGet, url+"/metrics", ""); !strings.Contains(string(got.body), "cr_sandbox_faults_total 1\n") {
		t.Errorf("the fault is not counted")
	}
}

func TestPanicsAreAnswered(t *testing.T) {
	_, url := serve(t, fake(func(context.Context, sandbox.Job) (sandbox.Result, error) { panic("a bug") }),
		Config{Log: slog.New(slog.DiscardHandler)})
	for range 2 { // the slot must be free again
		if got := post(t, url+"/run_code", hello); got.code != http.StatusInternalServerError || strings.Contains(string(got.body), "a bug") {
			t.Errorf("got %d %s", got.code, got.body)
		}
	}
}

func TestOpenAPIIsTrue(t *testing.T) {
	_, url := serve(t, fake(echo), Config{})
	got := send(t, http.MethodGet, url+"/openapi.json", "")
	var doc struct {
		Paths      map[string]map[string]any
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any
			}
		}
	}
	got.decode(t, &doc)
	for path, methods := range doc.Paths {
		for method := range methods {
			body := ""
			if method == "post" {
				body = "{}"
			}
			if got := send(t, strings.ToUpper(method), url+path, body); got.code == 404 || got.code == 405 {
				t.Errorf("%s %s: %d", method, path, got.code)
			}
		}
	}
	var run map[string]any
	post(t, url+"/run_code", hello).decode(t, &run)
	for name := range run {
		if _, ok := doc.Components.Schemas["RunCodeResponse"].Properties[name]; !ok {
			t.Errorf("the document does not know %s", name)
		}
	}
}
