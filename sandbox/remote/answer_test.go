package remote_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/remote"
)

// answering runs a job at a service with one answer.
func answering(t *testing.T, body string, job sandbox.Job) (sandbox.Result, error) {
	t.Helper()
	c := connect(t, scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, body)
	}), remote.Options{})
	return c.Run(t.Context(), job)
}

// TestForeignStatuses reads answers in the shapes that ScaleBox gives.
func TestForeignStatuses(t *testing.T) {
	compiled := func(result string) string {
		return `{"status":"Failed","message":"","compile_result":` + result + `,"run_result":null,"executor_pod_name":null,"files":{}}`
	}
	trace := `Traceback (most recent call last):\n  File \"/tmp/a.py\", line 1, in <module>\n`
	for _, tt := range []struct {
		name, language, body string
		want                 sandbox.Status
		exit                 int
		signal               string
	}{
		{"success", "python", ran("Success", `"Finished"`, "0", `"hello\n"`, `""`), sandbox.OK, 0, ""},
		{"exit status", "python", ran("Failed", `"Finished"`, "3", `""`, `""`), sandbox.RuntimeError, 3, ""},
		{"exception", "python", ran("Failed", `"Finished"`, "1", `""`, `"`+trace+`ZeroDivisionError: division by zero\n"`), sandbox.RuntimeError, 1, ""},
		{"signal", "python", ran("Failed", `"Finished"`, "-11", `""`, `""`), sandbox.RuntimeError, 139, "SIGSEGV"},
		{"time", "python", ran("Failed", `"TimeLimitExceeded"`, "null", `""`, `""`), sandbox.TimeLimitExceeded, 0, ""},
		{"memory", "python", ran("Failed", `"Finished"`, "1", `""`, `"`+trace+`MemoryError\n"`), sandbox.MemoryLimitExceeded, 1, ""},
		{"refused mapping", "python", ran("Failed", `"Finished"`, "1", `""`, `"`+trace+`OSError: [Errno 12] Cannot allocate memory\n"`), sandbox.MemoryLimitExceeded, 1, ""},
		{"source", "python", ran("Failed", `"Finished"`, "1", `""`, `"  File \"/tmp/a.py\", line 1\n    int a = 1\n        ^\nSyntaxError: invalid syntax\n"`), sandbox.CompileError, 1, ""},
		{"source met at run time", "python", ran("Failed", `"Finished"`, "1", `""`, `"`+trace+`SyntaxError: invalid syntax\n"`), sandbox.RuntimeError, 1, ""},
		{"compiler", "cpp", compiled(`{"status":"Finished","execution_time":0.03,"return_code":1,"stdout":"","stderr":"error: x"}`), sandbox.CompileError, 0, ""},
		{"compiler's time", "cpp", compiled(`{"status":"TimeLimitExceeded","execution_time":0.05,"return_code":null,"stdout":"","stderr":""}`), sandbox.CompileError, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := answering(t, tt.body, sandbox.Job{Language: tt.language})
			if err != nil || got.Status != tt.want || got.ExitCode != tt.exit || got.Signal != tt.signal {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// TestFaultsOfTheService are answers that say nothing of the program.
func TestFaultsOfTheService(t *testing.T) {
	for _, tt := range []struct{ name, language, body, want string }{
		{"it says so", "python", `{"status":"SandboxError","message":"exception on running code: 'python' None","compile_result":null,"run_result":null,"executor_pod_name":null,"files":{}}`, "'python' None"},
		{"no interpreter", "php", ran("Failed", `"Finished"`, "127", `""`, `"/bin/bash: line 1: php: command not found\n"`), "not installed"},
		{"no result", "python", `{"status":"Success","message":"","compile_result":null,"run_result":null,"files":{}}`, "makes no sense"},
		{"no return code", "python", ran("Failed", `"Finished"`, "null", `""`, `""`), "makes no sense"},
		{"another status", "python", ran("Fine", `"Finished"`, "0", `""`, `""`), "makes no sense"},
		{"no JSON", "python", "<html>", "makes no sense"},
		{"a list", "python", "[]", "makes no sense"},
		{"nothing", "python", "", "makes no sense"},
		{"files that are no base64", "python", `{"status":"Success","files":{"a":"*"}}`, "makes no sense"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := answering(t, tt.body, sandbox.Job{Language: tt.language})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %+v, %v; want an error with %q", got, err, tt.want)
			}
		})
	}
}

// TestFaultsOfOwnService are answers of a service of cr's own, or of what stands
// before it, that must not pass for a program that printed nothing.
func TestFaultsOfOwnService(t *testing.T) {
	run := `"run_result":{"status":"Finished","execution_time":0.1,"return_code":0,"stdout":"","stderr":""}`
	for name, tt := range map[string]struct {
		body string
		good bool
	}{
		"whole":            {`{"status":"Success",` + run + `,"cr":{"status":"OK"}}`, true},
		"not compiled":     {`{"status":"Failed","compile_result":{"status":"Finished","return_code":1},"cr":{"status":"CE"}}`, true},
		"no result":        {`{"status":"Success","cr":{"status":"OK"}}`, false},
		"no extension":     {`{"status":"Success",` + run + `}`, false},
		"another's status": {`{"status":"Success",` + run + `,"cr":{"status":"AC"}}`, false},
		"another schema":   {`{"accepted":true,"score":1}`, false},
		"cut":              {`{"status":"Success",` + run[:40], false},
		"a page":           {`<html>welcome</html>`, false},
	} {
		t.Run(name, func(t *testing.T) {
			answers := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, tt.body) })
			c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/healthz" {
					_, _ = io.WriteString(w, `{"service":"cr","extension":1}`)
					return
				}
				answers.ServeHTTP(w, r)
			}), remote.Options{})
			if !c.Own() {
				t.Fatal("it is not taken for one of cr's own")
			}
			if got, err := c.Run(t.Context(), hello); (err == nil) != tt.good {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestRecordedAnswers reads all that ScaleBox was recorded to answer.
func TestRecordedAnswers(t *testing.T) {
	dir := os.Getenv("CR_TEST_DATA")
	if dir == "" {
		t.Skip("CR_TEST_DATA is not set: no recorded pairs to read")
	}
	names, err := filepath.Glob(filepath.Join(dir, "scalebox_pairs", "run_*.json"))
	if err != nil || len(names) == 0 {
		t.Skipf("no recorded pairs in %s (%v)", dir, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var pair struct {
			Status   int
			JSON     json.RawMessage
			Response json.RawMessage
		}
		if err := json.Unmarshal(data, &pair); err != nil {
			t.Fatal(err)
		}
		var sent struct{ Language string }
		var got struct {
			Status string
			Run    *struct{ Status, Stdout string } `json:"run_result"`
		}
		if pair.Status != http.StatusOK || json.Unmarshal(pair.JSON, &sent) != nil || json.Unmarshal(pair.Response, &got) != nil {
			continue
		}
		result, err := answering(t, string(pair.Response), sandbox.Job{Language: sent.Language})
		missing := strings.HasSuffix(name, "_missing_runtime.json")
		switch {
		case errors.As(err, new(*sandbox.LanguageError)):
			// a language that cr does not know is refused before
		case (got.Status == "SandboxError" || missing) != (err != nil):
			t.Errorf("%s: %v", filepath.Base(name), err)
		case err != nil:
		case (got.Status == "Success") != (result.Status == sandbox.OK):
			t.Errorf("%s: %s, status %s", filepath.Base(name), got.Status, result.Status)
		case got.Run != nil && (got.Run.Stdout != string(result.Stdout) ||
			(got.Run.Status == "TimeLimitExceeded") != (result.Status == sandbox.TimeLimitExceeded)):
			t.Errorf("%s: %+v", filepath.Base(name), result)
		}
	}
}
