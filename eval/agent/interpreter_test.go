package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/sandbox"
)

func TestInterpreterSchemaIsJSON(t *testing.T) {
	var schema struct {
		Type     string
		Function struct {
			Name       string
			Parameters struct {
				Properties map[string]struct{ Type string }
				Required   []string
			}
		}
	}
	if err := json.Unmarshal(Interpreter{}.Tools()[0], &schema); err != nil {
		t.Fatal(err)
	}
	p := schema.Function.Parameters
	if schema.Type != "function" || schema.Function.Name != "code_interpreter" || len(p.Required) != 1 ||
		p.Properties["code"].Type != "string" || p.Properties["language"].Type != "string" || p.Properties["timeout"].Type != "integer" {
		t.Errorf("schema %+v", schema)
	}
}

func TestInterpreterTimeout(t *testing.T) {
	for args, want := range map[string]time.Duration{
		`{"code":"print 1"}`:                             30 * time.Second,
		`{"code":"print 1","timeout":5}`:                 5 * time.Second,
		`{"code":"print 1","timeout":"2.5"}`:             2500 * time.Millisecond,
		`{"code":"print 1","timeout":0.001}`:             time.Second,
		`{"code":"print 1","timeout":1e300}`:             30 * time.Second,
		`{"code":"print 1","timeout":null}`:              30 * time.Second,
		`{"code":"print 1","language":"Python"}`:         30 * time.Second,
		`"{\"code\":\"print 1\",\"timeout\":7}"`:         7 * time.Second,
		`{"code":"print 1","timeout":3,"why":"no idea"}`: 3 * time.Second,
	} {
		ex := &executor{}
		_, err := Interpreter{Executor: ex, Limits: sandbox.Limits{Memory: 5}}.Call(
			context.Background(), chat.ToolCall{Name: InterpreterName, Arguments: json.RawMessage(args)}, 30*time.Second)
		if err != nil || len(ex.jobs) != 1 {
			t.Errorf("%s: ran %d jobs, error %v", args, len(ex.jobs), err)
			continue
		}
		if l := ex.jobs[0].Limits; l.CPU != want || l.Memory != 5 {
			t.Errorf("%s: limits %+v, want CPU %v", args, l, want)
		}
	}
}

func TestRunDescriptions(t *testing.T) {
	for want, res := range map[string]sandbox.Result{
		"no output\nexit status: 0":                                     {Status: sandbox.OK},
		"stdout:\na\nb\nexit status: 0":                                 {Status: sandbox.OK, Stdout: []byte("a\nb\n\n")},
		"stderr:\nboom\nexit status: 3":                                 {Status: sandbox.RuntimeError, ExitCode: 3, Stderr: []byte("boom")},
		"no output\nkilled by signal SIGSEGV":                           {Status: sandbox.RuntimeError, Signal: "SIGSEGV"},
		"stdout:\n1\nkilled: time limit of 2.5 s exceeded":              {Status: sandbox.TimeLimitExceeded, Stdout: []byte("1"), Signal: "SIGKILL", CPU: 2513 * time.Millisecond},
		"no output\nkilled: memory limit exceeded":                      {Status: sandbox.MemoryLimitExceeded, Signal: "SIGKILL"},
		"stdout:\n\uFFFDx\nkilled: output limit exceeded":               {Status: sandbox.OutputLimitExceeded, Stdout: []byte("\xffx")},
		"stderr:\nSyntaxError: invalid syntax (line 1)\nexit status: 1": {Status: sandbox.CompileError, ExitCode: 1, Stderr: []byte("SyntaxError: invalid syntax (line 1)")},
	} {
		if got := describeRun(res, 2500*time.Millisecond); got != want {
			t.Errorf("%+v\n got %q\nwant %q", res, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	if got := Clip("short", 5); got != "short" {
		t.Errorf("text within the limit became %q", got)
	}
	text := strings.Repeat("é", 500) + strings.Repeat("ü", 500)
	got := Clip(text, 101)
	// The marker takes at most 31 characters, which leaves 70: 35 at each end.
	if want := strings.Repeat("é", 35) + "\n[... 930 characters cut ...]\n" + strings.Repeat("ü", 35); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Clip(text, 3); got != "üüü" {
		t.Errorf("tiny limit gave %q", got)
	}
	if got := Clip("abc", 0); got != "" {
		t.Errorf("limit 0 gave %q", got)
	}
}

func FuzzInterpreterArguments(f *testing.F) {
	for _, seed := range []string{`{"code":"x"}`, `"{\"code\":1}"`, `null`, `[`, `{"code":"x","timeout":"NaN"}`, `{"code":"x","timeout":1e999}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		args, err := parseInterpreterArgs(json.RawMessage(raw))
		if err == nil && (strings.TrimSpace(args.code) == "" || args.timeout < 0 || args.timeout > 24*time.Hour) {
			t.Errorf("%q was read as %+v", raw, args)
		}
	})
}

func FuzzClip(f *testing.F) {
	f.Add("some text that is longer", 10)
	f.Add("\xff\xfe", 1)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 0 || limit > 1<<16 {
			return
		}
		if n := utf8.RuneCountInString(Clip(text, limit)); n > limit {
			t.Errorf("%d characters, limit %d", n, limit)
		}
	})
}
