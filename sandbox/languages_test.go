package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
)

// specimen is what one language is tried with. The programs were written for the
// purpose; what they must do is the same in all languages.
type specimen struct {
	Hello   string `json:"hello"`   // prints "hello"
	Sum     string `json:"sum"`     // adds the integers on stdin
	Broken  string `json:"broken"`  // is not valid; "" where nothing is checked before the run
	Exit    string `json:"exit"`    // writes to stderr and exits with status 3
	Spin    string `json:"spin"`    // never ends
	Hog     string `json:"hog"`     // takes more and more memory
	ExitIs  int    `json:"exit_is"` // where the language cannot exit with 3
	RunTime bool   `json:"run_time"`
}

func specimens(t *testing.T) map[string]specimen {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "languages.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]specimen
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// trial runs one program of a language, and skips the whole language when its
// tool chain is not here.
func trial(t *testing.T, l *sandbox.Local, job sandbox.Job) sandbox.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	r, err := l.Run(ctx, job)
	if errors.As(err, new(*sandbox.LanguageError)) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatalf("the sandbox failed: %v", err)
	}
	return r
}

// say describes a result in a failed test.
func say(r *sandbox.Result) string {
	text := string(r.Status) + " " + r.Signal + " stdout " + string(r.Stdout) + " stderr " + string(r.Stderr)
	if r.Compile != nil {
		text += " compiler: " + string(r.Compile.Stdout) + string(r.Compile.Stderr)
	}
	return text
}

func TestEveryLanguage(t *testing.T) {
	all := specimens(t)
	l := open(t, sandbox.LocalOptions{Workers: 2})
	for _, name := range sandbox.Languages() {
		t.Run(name, func(t *testing.T) {
			s, ok := all[name]
			if !ok {
				t.Skip("a mode for tests, tried on its own")
			}
			limits := sandbox.Limits{CPU: 10 * time.Second, Memory: 1 << 30}
			if r := trial(t, l, sandbox.Job{Language: name, Code: s.Hello, Limits: limits}); r.Status != sandbox.OK || strings.TrimSpace(string(r.Stdout)) != "hello" {
				t.Errorf("hello: %s", say(&r))
			}
			if r := trial(t, l, sandbox.Job{Language: name, Code: s.Sum, Stdin: []byte("1 2\n39\n"), Limits: limits}); r.Status != sandbox.OK || strings.TrimSpace(string(r.Stdout)) != "42" {
				t.Errorf("sum: %s", say(&r))
			}
			tryFailures(t, l, name, &s, limits)
		})
	}
}

func tryFailures(t *testing.T, l *sandbox.Local, name string, s *specimen, limits sandbox.Limits) {
	t.Helper()
	if s.Broken != "" {
		r := trial(t, l, sandbox.Job{Language: name, Code: s.Broken, Limits: limits})
		switch {
		case s.RunTime && (r.Status != sandbox.RuntimeError || len(r.Stderr) == 0):
			t.Errorf("broken: %s", say(&r))
		case !s.RunTime && (r.Status != sandbox.CompileError || len(r.Stdout) > 0):
			t.Errorf("broken: %s", say(&r))
		case !s.RunTime && r.Compile != nil && len(r.Compile.Stderr)+len(r.Compile.Stdout) == 0:
			t.Errorf("broken: the compiler says nothing")
		}
	}
	want := 3
	if s.ExitIs != 0 {
		want = s.ExitIs
	}
	if r := trial(t, l, sandbox.Job{Language: name, Code: s.Exit, Limits: limits}); r.Status != sandbox.RuntimeError || r.ExitCode != want || !strings.Contains(string(r.Stderr), "complaint") {
		t.Errorf("exit %d: %d %s", want, r.ExitCode, say(&r))
	}
	quick := limits
	quick.CPU = time.Second
	if r := trial(t, l, sandbox.Job{Language: name, Code: s.Spin, Limits: quick}); r.Status != sandbox.TimeLimitExceeded {
		t.Errorf("spin: %s", say(&r))
	}
	small := limits
	small.Memory = 256 << 20
	if r := trial(t, l, sandbox.Job{Language: name, Code: s.Hog, Limits: small}); r.Status != sandbox.MemoryLimitExceeded {
		t.Errorf("hog: %s", say(&r))
	}
}
