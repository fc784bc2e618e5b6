package service

import (
	"context"
	"encoding/base64"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
)

// jobOf is the job that a request becomes.
func jobOf(t *testing.T, request object) sandbox.Job {
	t.Helper()
	var job sandbox.Job
	_, url := serve(t, fake(func(_ context.Context, j sandbox.Job) (sandbox.Result, error) {
		job = j
		return sandbox.Result{Status: sandbox.OK}, nil
	}), Config{})
	if got := post(t, url+"/run_code", request); got.code != http.StatusOK {
		t.Fatalf("got %d %s", got.code, got.body)
	}
	return job
}

func TestExtensionReachesTheSandbox(t *testing.T) {
	got := jobOf(t, object{
		"language": "python", "code": "def f(x): return x", "run_timeout": 2, "memory_limit_MB": 64,
		"cr": object{
			"prelude": true, "long_ints": true, "args": []string{"a"}, "stdin": base64.StdEncoding.EncodeToString([]byte("\xff")),
			"call":         object{"method": "f", "args": []string{`[NaN, 1]`}},
			"wall_timeout": 9, "output_limit": 1000, "processes": 3,
		},
	})
	if got.Call == nil || got.Call.Method != "f" || got.Call.Class != "" || len(got.Call.Args) != 1 || string(got.Call.Args[0]) != "[NaN, 1]" {
		t.Errorf("call %+v", got.Call)
	}
	if !got.Prelude || !got.LongInts || !reflect.DeepEqual(got.Args, []string{"a"}) || string(got.Stdin) != "\xff" {
		t.Errorf("job %+v", got)
	}
	want := sandbox.Limits{CPU: 2 * time.Second, Wall: 9 * time.Second, Memory: 64 << 20, Output: 1000, Processes: 3}
	if got.Limits != want {
		t.Errorf("limits %+v, want %+v", got.Limits, want)
	}
	check := jobOf(t, object{"language": "python", "code": "", "cr": object{"check": object{
		"tests": "assert f()", "entry": "f", "setup": "x = 1", "main": true, "together": true,
	}}}).Check
	if want := (&sandbox.Check{Tests: "assert f()", Entry: "f", Setup: "x = 1", Main: true, Together: true}); !reflect.DeepEqual(check, want) {
		t.Errorf("check %+v", check)
	}
}

// A request without the member is answered as ScaleBox answers it, and one whose
// member is null too.
func TestNoExtension(t *testing.T) {
	_, url := serve(t, fake(echo), Config{})
	for _, body := range []string{hello, `{"language":"python","code":"print(1)","cr":null}`} {
		if got := post(t, url+"/run_code", body); got.code != 200 || strings.Contains(string(got.body), `"cr"`) {
			t.Errorf("got %d %s", got.code, got.body)
		}
	}
}

func TestBadExtensions(t *testing.T) {
	_, url := serve(t, fake(echo), Config{})
	for member, where := range map[string]string{
		`1`:                                  `"cr"`,
		`{"call":{}}`:                        `"method"`,
		`{"call":{"method":1}}`:              `"method"`,
		`{"call":{"method":"f","args":[1]}}`: `"args",0`,
		`{"call":{"method":"f","args":["1", "[1"]}}`:   `"args",1`,
		`{"check":{"entry":"f"}}`:                      `"tests"`,
		`{"call":{"method":"f"},"check":{"tests":""}}`: `exclude`,
		`{"output_limit":0}`:                           `"output_limit"`,
		`{"output_limit":999999999999}`:                `"output_limit"`,
		`{"processes":1e9}`:                            `"processes"`,
		`{"wall_timeout":-1}`:                          `"wall_timeout"`,
		`{"stdin":"*"}`:                                `base64`,
		`{"args":"a"}`:                                 `"args"`,
	} {
		got := post(t, url+"/run_code", `{"language":"python","code":"","cr":`+member+`}`)
		if got.code != http.StatusUnprocessableEntity || !strings.Contains(string(got.body), where) {
			t.Errorf("%s: got %d %s", member, got.code, got.body)
		}
	}
}

// TestExtensionInTheJail is what the client gets to see of real programs.
func TestExtensionInTheJail(t *testing.T) {
	url := jailed(t)
	run := func(code string, member object) extensionAnswer {
		t.Helper()
		var r runResponse
		post(t, url+"/run_code", object{"language": "python", "code": code, "run_timeout": 1, "cr": member}).decode(t, &r)
		if r.Extension == nil {
			t.Fatalf("no member cr: %+v", r)
		}
		return *r.Extension
	}
	call := func(args ...string) object { return object{"call": object{"method": "f", "args": args}} }
	if got := run("def f(x):\n    print('noise')\n    return [x, float('nan')]", call("[1]")); got.Status != sandbox.OK || got.Value == nil || *got.Value != "[[1], NaN]" {
		t.Errorf("a call: %+v", got)
	}
	if got := run("def f(): pass", call()); got.Value == nil || *got.Value != "null" {
		t.Errorf("None: %+v", got)
	}
	if got := run("def f(): return {1}", call()); got.Status != sandbox.RuntimeError || got.Value != nil {
		t.Errorf("a set: %+v", got)
	}
	if got := run("print(gcd(4, 6), len(argv))", object{"prelude": true, "args": []string{"x", "y"}}); got.Status != sandbox.OK {
		t.Errorf("prelude: %+v", got)
	}
	if got := run("import sys\nsys.stdout.buffer.write(b'\\xff')", object{}); string(got.Stdout) != "\xff" {
		t.Errorf("bytes: %+v", got)
	}
	if got := run("while True: pass", object{}); got.Status != sandbox.TimeLimitExceeded {
		t.Errorf("time: %+v", got)
	}
	if got := run("def f(:", object{}); got.Status != sandbox.CompileError {
		t.Errorf("compilation: %+v", got)
	}
	if got := run("def f(x): return x + 1", object{"check": object{"tests": "assert f(1) == 3"}}); got.Check == nil || got.Check.Passed {
		t.Errorf("a check: %+v", got.Check)
	}
}
