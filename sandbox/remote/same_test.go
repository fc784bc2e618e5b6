package remote_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
	"github.com/coderl/cr/sandbox/remote"
)

// jobs are what the two kinds of services must do as the local sandbox does.
var jobs = map[string]sandbox.Job{
	"stdin":     {Code: "print(int(input()) * 2)", Stdin: []byte("21\n")},
	"no stdin":  {Code: "import sys\nprint(repr(sys.stdin.read()))"},
	"exit":      {Code: "import sys\nprint('out')\nsys.exit('why')"},
	"signal":    {Code: "import os\nos.kill(os.getpid(), 11)"},
	"raises":    {Code: "def f():\n    1 / 0\n\n\nf()"},
	"no Python": {Code: "def f(:"},
	"arguments": {Code: "import sys\nprint(sys.argv[1:])", Args: []string{"a b", "ü\"\\\n"}},
	"files": {
		Code:  "open('out', 'wb').write(open('d/in', 'rb').read() + b'\\xff')",
		Files: map[string][]byte{"d/in": []byte("\x00\xfe")}, Fetch: []string{"out", "absent"},
	},
	"prelude":          {Code: "print(gcd(4, 6), Counter('aab').most_common(1), List[int], heappop([1]))", Prelude: true},
	"prelude, future":  {Code: "'''doc'''\nfrom __future__ import annotations\ndef f(x: absent): pass\nprint(__doc__, __name__, f.__annotations__)", Prelude: true},
	"prelude, deep":    {Code: "def f(n):\n    return 1 + f(n - 1) if n else 0\nprint(f(40000))", Prelude: true},
	"prelude, long":    {Code: "print(len(str(10 ** 20000)))", Prelude: true},
	"prelude, raises":  {Code: "x = 1\nraise ValueError('é')", Prelude: true},
	"prelude, exits":   {Code: "raise SystemExit(7)", Prelude: true},
	"prelude, source":  {Code: "x = = 1", Prelude: true},
	"prelude, module":  {Code: "import sys, pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A, sys.modules['__main__'].A is A)", Prelude: true},
	"prelude, stdin":   {Code: "import sys\nprint(sys.stdin.readline(), stdin.read())", Stdin: []byte("a\nb\n"), Prelude: true},
	"prelude, at exit": {Code: "import atexit, threading\natexit.register(print, 'exit')\nthreading.Thread(target=print, args=('thread',)).start()", Prelude: true},

	"long":         {Code: "print(len(str(10 ** 20000)))", LongInts: true},
	"not long":     {Code: "print(len(str(10 ** 20000)))", Args: []string{"x"}},
	"call":         {Code: "class Solution:\n    def f(self, a, b):\n        print('noise')\n        return {'s': [a, b, (1, None)]}", Call: call("Solution", "f", `"x\u00e9"`, "[NaN]")},
	"function":     {Code: "def f(n): return 2 ** n", Call: call("", "f", "20000"), Prelude: true},
	"inner names":  {Code: "def f(): return __name__", Call: call("", "f")},
	"None":         {Code: "def f(): pass", Call: call("", "f")},
	"subclasses":   {Code: "class I(int):\n    __repr__ = lambda s: 'forged'\ndef f(): return [I(3), True, 1.5, float('inf')]", Call: call("", "f")},
	"a set":        {Code: "def f(): return {1}", Call: call("", "f")},
	"numeric keys": {Code: "def f(): return {1: 2}", Call: call("", "f")},
	"no function":  {Code: "x = 1", Call: call("", "f")},
	"call raises":  {Code: "def f(): raise KeyError('k')", Call: call("", "f")},
	"call exits":   {Code: "import sys\ndef f(): sys.exit(0)", Call: call("", "f")},
	"call dies":    {Code: "import os\ndef f(): os._exit(0)", Call: call("", "f")},
	"call reads":   {Code: "import sys\ndef f(): return sys.stdin.read()", Call: call("", "f")},
	"closed":       {Code: "import sys\ndef f():\n    sys.stdout.close()\n    return 5", Call: call("", "f")},
	"patched":      {Code: "import json, os\njson.dumps = json.loads = os.write = None\nprint('x' * 70000)\ndef f(a): return a", Call: call("", "f", "[1, 2]")},
	"call, source": {Code: "def f(: pass", Call: call("", "f")},
}

func call(class, method string, args ...string) *sandbox.Call {
	c := &sandbox.Call{Class: class, Method: method}
	for _, a := range args {
		c.Args = append(c.Args, json.RawMessage(a))
	}
	return c
}

// TestSameResults holds both kinds of services to the local sandbox.
func TestSameResults(t *testing.T) {
	local := openLocal(t)
	own := ownService(local)
	kinds := map[string]*remote.Client{
		"cr":            connect(t, own, remote.Options{}),
		"ScaleBox":      connect(t, plain(t, own), remote.Options{}),
		"a bare Python": connect(t, barePython(t), remote.Options{}),
	}
	for name, job := range jobs {
		job.Language = "python"
		want, err := local.Run(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		for kind, client := range kinds {
			got, err := client.Run(t.Context(), job)
			if err != nil {
				t.Errorf("%s at %s: %v", name, kind, err)
				continue
			}
			if got.Status != want.Status || got.ExitCode != want.ExitCode || got.Signal != want.Signal || string(got.Value) != string(want.Value) {
				t.Errorf("%s at %s: %s %d %s %s, here %s %d %s %s; stderr %s", name, kind,
					got.Status, got.ExitCode, got.Signal, got.Value, want.Status, want.ExitCode, want.Signal, want.Value, got.Stderr)
			}
			if string(got.Stdout) != string(want.Stdout) {
				t.Errorf("%s at %s: printed %.300q, here %.300q", name, kind, got.Stdout, want.Stdout)
			}
			if lastWords(got.Stderr) != lastWords(want.Stderr) {
				t.Errorf("%s at %s: said %q, here %q", name, kind, got.Stderr, want.Stderr)
			}
			if string(got.Files["out"]) != string(want.Files["out"]) || len(got.Files) != len(want.Files) {
				t.Errorf("%s at %s: files %q, here %q", name, kind, got.Files, want.Files)
			}
		}
	}
}

// lastWords are a traceback's exception and the number of its frames, which a
// driver must not add to.
func lastWords(stderr []byte) string {
	lines := strings.Split(strings.TrimSpace(string(stderr)), "\n")
	frames := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !strings.HasPrefix(l, "  File ") })
	for i, f := range frames {
		_, frames[i], _ = strings.Cut(f, `", line`)
	}
	return strings.Join(append(frames, lines[len(lines)-1]), "\n")
}

// TestBytes: our own service carries what is no text; another is not asked to.
func TestBytes(t *testing.T) {
	own := ownService(openLocal(t))
	job := sandbox.Job{Language: "python", Code: "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read() * 2)", Stdin: []byte("\xff\x00")}
	got, err := connect(t, own, remote.Options{}).Run(t.Context(), job)
	if err != nil || string(got.Stdout) != "\xff\x00\xff\x00" {
		t.Errorf("got %q, %v", got.Stdout, err)
	}
	foreign := connect(t, plain(t, own), remote.Options{})
	for want, job := range map[string]sandbox.Job{
		"cr sandbox serve": job,
		"no UTF-8":         {Language: "python", Code: "'\xff'"},
		"apart from":       {Language: "python", Check: &sandbox.Check{Tests: "assert 1"}},
		"arguments":        {Language: "cpp", Args: []string{"a"}},
		"none of":          {Language: "cobol"},
	} {
		if _, err := foreign.Run(t.Context(), job); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

// TestOutputLimit is told by both kinds, the other by the length alone.
func TestOutputLimit(t *testing.T) {
	own := ownService(openLocal(t))
	for _, h := range []http.Handler{own, plain(t, own)} {
		job := sandbox.Job{Language: "python", Code: "print('x' * 5000)", Limits: sandbox.Limits{Output: 4000}}
		got, err := connect(t, h, remote.Options{}).Run(t.Context(), job)
		if err != nil || got.Status != sandbox.OutputLimitExceeded {
			t.Errorf("got %s, %v", got.Status, err)
		}
	}
	endless := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	})
	job := sandbox.Job{Language: "python", Limits: sandbox.Limits{Output: 4000}}
	got, err := connect(t, endless, remote.Options{}).Run(t.Context(), job)
	if err != nil || got.Status != sandbox.OutputLimitExceeded {
		t.Errorf("an endless answer: got %s, %v", got.Status, err)
	}
}

func TestIsolationIsTold(t *testing.T) {
	exec := openLocal(t)
	own := ownService(exec)
	got := connect(t, own, remote.Options{}).Isolation()
	if got.Tier != "remote" || got.Layers[0] != "cr service with isolation "+exec.Isolation().Tier ||
		len(got.Layers) != 1+len(exec.Isolation().Layers) || got.Interpreter != exec.Isolation().Interpreter {
		t.Errorf("got %+v", got)
	}
	got = connect(t, plain(t, own), remote.Options{}).Isolation()
	if got.Tier != "remote" || !strings.Contains(got.Layers[0], "says nothing") || got.Interpreter != exec.Isolation().Interpreter {
		t.Errorf("got %+v", got)
	}
}

// judgeCase is a small program with the right verdict.
type judgeCase struct {
	ID      string
	Method  string `json:"func_name"`
	Code    string
	Tests   []judge.Test
	Want    string
	Checker *judge.Checker
	Limits  struct {
		Seconds  float64
		MemoryMB int64 `json:"memory_mb"`
	}
}

// TestSameReports judges, at both kinds of services, the programs that judges are
// known to get wrong. At our own the reports are the local ones word for word.
func TestSameReports(t *testing.T) {
	data := os.Getenv("CR_TEST_DATA")
	if data == "" {
		t.Skip("CR_TEST_DATA is not set: judge_cases.json is outside data")
	}
	raw, err := os.ReadFile(filepath.Join(data, "judge_cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []judgeCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	local := openLocal(t)
	own := ownService(local)
	here := judge.New(local)
	there := judge.New(connect(t, own, remote.Options{}))
	elsewhere := judge.New(connect(t, plain(t, own), remote.Options{}))
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			task := judge.Task{ID: c.ID, Method: c.Method, Tests: c.Tests, Mode: judge.Strict, Checker: c.Checker}
			task.Limits.CPU = time.Duration(c.Limits.Seconds * float64(time.Second))
			task.Limits.Memory = c.Limits.MemoryMB << 20
			want, err := here.Judge(t.Context(), c.Code, task)
			if err != nil {
				t.Fatal(err)
			}
			got, err := there.Judge(t.Context(), c.Code, task)
			if err != nil || !slices.Equal(comparable(got), comparable(want)) {
				t.Errorf("at cr's service %v, %v; here %v", comparable(got), err, comparable(want))
			}
			if got, err = elsewhere.Judge(t.Context(), c.Code, task); err != nil || !strings.EqualFold(string(got.Verdict), c.Want) {
				t.Errorf("at a foreign service %s, %v; want %s: %v", got.Verdict, err, c.Want, comparable(got))
			}
		})
	}
}

// comparable is a report without times and sizes.
func comparable(r judge.Report) []string {
	lines := []string{string(r.Verdict)}
	for _, test := range r.Tests {
		line := string(test.Verdict)
		if test.Verdict != sandbox.TLE && test.Verdict != sandbox.MLE {
			line += " " + test.Detail
		}
		lines = append(lines, line)
	}
	return lines
}
