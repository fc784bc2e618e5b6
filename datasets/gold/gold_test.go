package gold

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/coderl/cr/datasets/rl"
	"github.com/coderl/cr/sandbox"
)

// program stands in for the sandbox: what a program does with a job.
type program func(job sandbox.Job) (sandbox.Result, error)

func (p program) Run(_ context.Context, job sandbox.Job) (sandbox.Result, error) { return p(job) }
func (program) Isolation() sandbox.Isolation                                     { return sandbox.Isolation{} }
func (program) Close() error                                                     { return nil }

func TestVerify(t *testing.T) {
	const (
		plain = `{"input": ["1\n", "2\n"], "output": ["1\n", "2\n"], "fn_name": null, "type": "stdin_stdout"}`
		call  = `{"input": [[1, "a"], [2, "b"]], "output": [["1a"], ["2b"]], "fn_name": "f", "type": "function_call"}`
	)
	echo := func(job sandbox.Job) (sandbox.Result, error) {
		return sandbox.Result{Status: sandbox.OK, Stdout: job.Stdin}, nil
	}
	count := 0
	flaky := func(job sandbox.Job) (sandbox.Result, error) {
		if count++; count > 2 {
			return sandbox.Result{Status: sandbox.RuntimeError}, nil
		}
		return echo(job)
	}
	joined := func(job sandbox.Job) (sandbox.Result, error) {
		value := strings.Trim(string(job.Call.Args[0]), `"`) + strings.Trim(string(job.Call.Args[1]), `"`)
		return sandbox.Result{Status: sandbox.OK, Value: []byte(`"` + value + `"`)}, nil
	}
	for _, c := range []struct {
		name, truth string
		run         program
		want        rl.Reason
	}{
		{"right", plain, echo, ""},
		{"wrong", strings.Replace(plain, `["1\n", "2\n"], "fn`, `["1\n", "3\n"], "fn`, 1), echo, rl.GoldFails},
		{"flaky", plain, flaky, rl.GoldFlaky},
		{"a call", call, joined, ""},
		{"a wrong call", strings.Replace(call, "2b", "2c", 1), joined, rl.GoldFails},
		{"a call of nothing", strings.Replace(call, `"f"`, "null", 1), joined, rl.CannotVerify},
		{"no text", strings.Replace(plain, `"1\n"`, "1", 1), echo, rl.CannotVerify},
		{"an empty output", strings.Replace(call, `["1a"]`, "[]", 1), joined, rl.CannotVerify},
	} {
		g := rl.Gold{Solution: "```python\nprint(input())\n```", GroundTruth: []byte(c.truth)}
		if got, err := New(c.run, "python").Verify(t.Context(), g); err != nil || got.Reason != c.want {
			t.Errorf("%s: %+v (%v), want %q", c.name, got, err, c.want)
		}
	}
}

func TestInfrastructureIsNoVerdict(t *testing.T) {
	broken := errors.New("no sandbox")
	v := New(program(func(sandbox.Job) (sandbox.Result, error) { return sandbox.Result{}, broken }), "python")
	g := rl.Gold{Solution: "```python\nx\n```", GroundTruth: []byte(`{"input": ["1"], "output": ["1"], "type": "stdin_stdout"}`)}
	if _, err := v.Verify(t.Context(), g); !errors.Is(err, broken) {
		t.Errorf("error %v, want the sandbox's", err)
	}
}

func TestFormsOfCalls(t *testing.T) {
	for solution, class := range map[string]string{"def f(a): return a": "", "import os\nclass Solution:\n  def f(self, a): return a": "Solution"} {
		var got sandbox.Job
		v := New(program(func(job sandbox.Job) (sandbox.Result, error) {
			got = job
			return sandbox.Result{Status: sandbox.OK, Value: []byte("1")}, nil
		}), "python")
		truth := `{"input": [[1]], "output": [[1]], "fn_name": "f", "type": "function_call"}`
		verdict, err := v.Verify(t.Context(), rl.Gold{Solution: "```python3\n" + solution + "\n```", GroundTruth: []byte(truth)})
		if err != nil || verdict.Reason != "" {
			t.Errorf("%q: %+v (%v)", solution, verdict, err)
		}
		if got.Call == nil || got.Call.Class != class || got.Code != solution+"\n" {
			t.Errorf("%q: job %+v, want class %q", solution, got, class)
		}
	}
}
