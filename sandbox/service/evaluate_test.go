package service

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
)

func numbers(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	return list
}

// TestStopAtFailure holds the answer to the rows up to the first failure, however
// many cases run at a time.
func TestStopAtFailure(t *testing.T) {
	inputs, outputs := numbers(30), numbers(30)
	outputs[7], outputs[9] = "x", "y"
	for _, workers := range []int{1, 2, 8} {
		var runs atomic.Int64
		_, url := serve(t, fake(func(ctx context.Context, job sandbox.Job) (sandbox.Result, error) {
			runs.Add(1)
			return echo(ctx, job)
		}), Config{Workers: workers})
		e := post(t, url+"/common_evaluate_batch", batch("x", inputs, outputs, object{})).eval(t)
		if e.Accepted || len(e.Tests) != 8 || e.Tests[7].Passed || !e.Tests[6].Passed {
			t.Errorf("%d workers: %d rows", workers, len(e.Tests))
		}
		if n := runs.Load(); n > int64(8+workers) {
			t.Errorf("%d workers: %d programs ran", workers, n)
		}
		e = post(t, url+"/common_evaluate_batch", batch("x", inputs, outputs, object{"run_all_cases": true})).eval(t)
		if e.Accepted || len(e.Tests) != 30 || e.Tests[9].Passed || !e.Tests[29].Passed {
			t.Errorf("%d workers, all cases: %d rows", workers, len(e.Tests))
		}
	}
}

// slowly is an executor whose programs take a second of wall time, or what they
// are given.
func slowly(ctx context.Context, job sandbox.Job) (sandbox.Result, error) {
	run, err := echo(ctx, job)
	run.Wall = min(time.Second, job.Limits.Wall)
	if run.Wall < time.Second {
		run.Status = sandbox.TimeLimitExceeded
	}
	return run, err
}

// TestTotalTimeCountsRunsOnly gives twelve programs of a second two seconds in
// all. Two at a time that is four, and one that may have started before the time
// of another was known.
func TestTotalTimeCountsRunsOnly(t *testing.T) {
	for workers, want := range map[int]int{1: 2, 2: 4, 12: 12} {
		_, url := serve(t, fake(slowly), Config{Workers: workers})
		e := post(t, url+"/common_evaluate_batch", batch("x", numbers(12), numbers(12), object{"run_all_cases": true, "total_timeout": 2})).eval(t)
		passed := 0
		for i, row := range e.Tests {
			if row.Passed {
				passed++
			} else if row.ExecInfo.Status != sandboxError || row.ExecInfo.Message != allTimed || row.ExecInfo.RunResult != nil {
				t.Errorf("%d workers: row %d: %+v", workers, i, row.ExecInfo)
			}
		}
		if passed < want || passed > want+workers-1 || len(e.Tests) != 12 || e.Accepted != (want == 12) {
			t.Errorf("%d workers: %d of %d passed, want %d", workers, passed, len(e.Tests), want)
		}
	}
}

func TestCutsOfPassedCases(t *testing.T) {
	_, url := serve(t, fake(echo), Config{})
	long := strings.Repeat("é", 1500) + strings.Repeat("z", 1500)
	info := func(extra object, output string) string {
		e := post(t, url+"/common_evaluate_batch", batch("x", []string{long}, []string{output}, extra)).eval(t)
		var v struct{ Input struct{ Stdin string } }
		if err := json.Unmarshal(e.Tests[0].TestInfo, &v); err != nil {
			t.Fatal(err)
		}
		return v.Input.Stdin
	}
	if got, want := info(object{}, long), strings.Repeat("é", 498)+"..."+strings.Repeat("z", 498); got != want {
		t.Errorf("a passed case is cut to %d characters: %.20q", len([]rune(got)), got)
	}
	if got := info(object{"return_full_case": true}, long); got != long {
		t.Error("cut although asked for in full")
	}
	if got := info(object{}, "no"); got != long {
		t.Error("a failed case is cut")
	}
}

func TestLargeOutputsAreBounded(t *testing.T) {
	big := []byte(strings.Repeat("x", 8<<20))
	_, url := serve(t, fake(func(context.Context, sandbox.Job) (sandbox.Result, error) {
		return sandbox.Result{Status: sandbox.OK, Stdout: big}, nil
	}), Config{})
	got := post(t, url+"/common_evaluate_batch", batch("x", numbers(20), numbers(20), object{"run_all_cases": true}))
	if len(got.eval(t).Tests) != 20 || len(got.body) > keptTotal+1<<20 {
		t.Errorf("an answer of %d bytes", len(got.body))
	}
}

// TestWhatJobsAreGiven looks at the job behind a request.
func TestWhatJobsAreGiven(t *testing.T) {
	var job sandbox.Job
	_, url := serve(t, fake(func(_ context.Context, j sandbox.Job) (sandbox.Result, error) {
		job = j
		return sandbox.Result{Status: sandbox.OK, Value: json.RawMessage("3")}, nil
	}), Config{MaxMemory: 1 << 30})
	run := func(body object) sandbox.Limits {
		t.Helper()
		if got := post(t, url+"/run_code", body); got.code != 200 {
			t.Fatalf("got %d %s", got.code, got.body)
		}
		return job.Limits
	}
	if l := run(object{"language": "python", "code": ""}); l.CPU != 10*time.Second || l.Memory != 1<<30 || l.AddressSpace {
		t.Errorf("by default: %+v", l)
	}
	if l := run(object{"language": "python", "code": "", "run_timeout": 0.25, "memory_limit_MB": 256}); l.CPU != 250*time.Millisecond || l.Wall != l.CPU || l.Memory != 256<<20 || !l.AddressSpace {
		t.Errorf("as asked: %+v", l)
	}
	if l := run(object{"language": "python", "code": "", "memory_limit_MB": 1<<44 + 1}); l.Memory != 1<<30 {
		t.Errorf("a limit of more bytes than a number holds: %+v", l)
	}
	if l := run(object{"language": "python", "code": "", "memory_limit_MB": 9999}); l.Memory != 1<<30 {
		t.Errorf("more than there is: %+v", l)
	}
	call := func(code string, config object) sandbox.Job {
		t.Helper()
		config["language"] = "python"
		config["provided_data"] = object{"test_cases": object{"fn_name": "add", "input": [][]int{{1, 2}}, "output": [][]int{{3}}}}
		e := post(t, url+"/common_evaluate_batch", object{"completion": "```python\n" + code + "\n```", "config": config}).eval(t)
		if !e.Accepted {
			t.Errorf("%s: not accepted: %+v", code, e)
		}
		return job
	}
	if j := call("def add(a, b): return a + b", object{}); j.Call.Class != "" || j.Prelude || j.Limits.CPU != 10*time.Second {
		t.Errorf("a function: %+v", j)
	}
	if j := call("class Solution:\n    def add(self, a, b): return a + b", object{"mem_limit": 262144, "run_timeout": 2}); j.Call.Class != "Solution" || !j.Prelude || j.Limits.Memory != 256<<20 || j.Limits.CPU != 2*time.Second {
		t.Errorf("a method: %+v", j)
	}
	if j := call("def add(a, b): return 3", object{"mem_limit": 512, "memory_limit_MB": 256}); j.Limits.Memory != 256<<20 {
		t.Errorf("two memory limits: %+v", j.Limits)
	}
}

// TestCalls judges calls in a real jail, as the requests of verl and of
// LiveCodeBench's data write them.
func TestCalls(t *testing.T) {
	url := jailed(t)
	identity := "def f(*x):\n    return x[0] if len(x) == 1 else list(x)"
	for _, tt := range []struct {
		name, code    string
		input, output string // JSON
		extra         string // more of test_cases
		want          bool
	}{
		{"one argument", identity, `[[1]]`, `[[1]]`, "", true},
		{"two arguments", identity, `[[1, "a"]]`, `[[[1, "a"]]]`, "", true},
		{"non-finite", identity, `[[NaN]]`, `[[NaN]]`, "", true},
		{"infinite", identity, `[[-Infinity]]`, `[[-Infinity]]`, "", true},
		{"infinite, other sign", identity, `[[-Infinity]]`, `[[Infinity]]`, "", false},
		{"large integer", identity, `[[123456789012345678901234567890]]`, `[[123456789012345678901234567890]]`, "", true},
		{"large integer, last digit", identity, `[[123456789012345678901234567890]]`, `[[123456789012345678901234567891]]`, "", false},
		{"line breaks in arguments", identity, "[[[1,\n2]]]", `[[[1, 2]]]`, "", true},
		{"text", identity, `[["a\"b'c\\n"]]`, `[["a\"b'c\\n"]]`, "", true},
		{"text lines, as LiveCodeBench has them", identity, `["[1, 2]\n3"]`, `["[[1, 2], 3]"]`, `,"json_input":true`, true},
		{"text lines without the mark", identity, `["[1, 2]\n3"]`, `["[[1, 2], 3]"]`, "", true},
		{"not wrapped", identity, `[[3]]`, `[3]`, "", false},
		{"an empty list for the value", identity, `[[3]]`, `[[]]`, "", false},
		{"a name of the prelude", "x = 1", `[[1, 2]]`, `[[3]]`, `,"fn_name":"add"`, false},
		{"an integer of 5000 digits as text", "def f(n):\n    return len(str(10**n))", `[[5000]]`, `[[5001]]`, "", true},
		{"float without tolerance", "def f(x):\n    return 0.1 + 0.2", `[[1]]`, `[[0.3]]`, "", false},
	} {
		fn := `,"fn_name":"f"`
		if strings.Contains(tt.extra, "fn_name") {
			fn = ""
		}
		code, err := json.Marshal("```python\n" + tt.code + "\n```")
		if err != nil {
			t.Fatal(err)
		}
		body := fmt.Sprintf(`{"completion":%s,"config":{"language":"python","provided_data":{"test_cases":{"type":"function_call"%s%s,"input":%s,"output":%s}}}}`,
			code, fn, tt.extra, tt.input, tt.output)
		got := post(t, url+"/common_evaluate_batch", body)
		if e := got.eval(t); e.Accepted != tt.want {
			t.Errorf("%s: accepted %v: %s", tt.name, e.Accepted, got.body)
		}
	}
}

func TestTolerance(t *testing.T) {
	_, url := serve(t, fake(echo), Config{})
	body := batch("x", []string{"0.3333"}, []string{"0.33333"}, object{"checker": object{"mode": "abs", "eps": 1e-3}})
	if e := post(t, url+"/common_evaluate_batch", body).eval(t); !e.Accepted {
		t.Error("a granted tolerance is not kept")
	}
	for _, extra := range []object{{"checker": object{"mode": "abs"}}, {"checker": object{"mode": "near"}}, {"compare": "loosely"}, {"checker": object{}}} {
		if got := post(t, url+"/common_evaluate_batch", batch("x", []string{"1"}, []string{"1"}, extra)); got.code != http.StatusUnprocessableEntity {
			t.Errorf("%v: got %d %s", extra, got.code, got.body)
		}
	}
}
