package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

func TestMain(m *testing.M) {
	sandbox.MaybeRunStub()
	os.Exit(m.Run())
}

// fake is an executor that answers by a function.
type fake func(context.Context, sandbox.Job) (sandbox.Result, error)

func (f fake) Run(ctx context.Context, job sandbox.Job) (sandbox.Result, error) { return f(ctx, job) }

func (fake) Isolation() sandbox.Isolation { return sandbox.Isolation{Tier: "fake"} }
func (fake) Close() error                 { return nil }

// echo is an executor whose programs print what they read.
func echo(_ context.Context, job sandbox.Job) (sandbox.Result, error) {
	return sandbox.Result{Status: sandbox.OK, Stdout: job.Stdin}, nil
}

// serve starts a service on an address of this host.
func serve(t *testing.T, exec sandbox.Executor, cfg Config) (*Service, string) {
	t.Helper()
	s := New(exec, cfg)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return s, server.URL
}

// jailed starts a service over a real jail, or skips where there is none.
func jailed(t *testing.T) string {
	t.Helper()
	exec, err := sandbox.NewLocal(sandbox.LocalOptions{Workers: 2})
	if errors.Is(err, sandbox.ErrNoIsolation) {
		t.Skipf("this host cannot isolate programs: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := exec.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	_, url := serve(t, exec, Config{Workers: 2, Assert: Asserts{Judge: judge.New(exec), Exec: exec}})
	return url
}

// answer is what came back for a request.
type answer struct {
	code   int
	header http.Header
	body   []byte
}

// decode reads an answer's JSON, or fails.
func (a answer) decode(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("answer %d %.200q: %v", a.code, a.body, err)
	}
}

func (a answer) eval(t *testing.T) evalResponse {
	t.Helper()
	if a.code != http.StatusOK {
		t.Fatalf("got %d %s", a.code, a.body)
	}
	var e evalResponse
	a.decode(t, &e)
	return e
}

func send(t *testing.T, method, url, body string, header ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, data}
}

func post(t *testing.T, url string, body any) answer {
	t.Helper()
	text, ok := body.(string)
	if !ok {
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		text = string(data)
	}
	return send(t, http.MethodPost, url, text, "Content-Type", "application/json")
}

// object saves ink.
type object = map[string]any

// batch is a request with columns of stdin and stdout.
func batch(code string, inputs, outputs []string, extra object) object {
	return object{
		"completion": "```python\n" + code + "\n```",
		"config": object{
			"language": "python", "extra": extra,
			"provided_data": object{"test_cases": object{"type": "stdin_stdout", "input": inputs, "output": outputs}},
		},
	}
}
