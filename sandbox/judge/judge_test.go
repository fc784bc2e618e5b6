package judge

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/coderl/cr/sandbox"
)

// fakeExecutor answers jobs by a function and remembers them.
type fakeExecutor struct {
	run func(sandbox.Job) (sandbox.Result, error)

	mu   sync.Mutex
	jobs []sandbox.Job
}

func (f *fakeExecutor) Run(ctx context.Context, job sandbox.Job) (sandbox.Result, error) {
	f.mu.Lock()
	f.jobs = append(f.jobs, job)
	f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return sandbox.Result{}, err
	}
	return f.run(job)
}

func (*fakeExecutor) Isolation() sandbox.Isolation { return sandbox.Isolation{} }
func (*fakeExecutor) Close() error                 { return nil }

// always answers every job alike.
func always(r sandbox.Result) *fakeExecutor {
	return &fakeExecutor{run: func(sandbox.Job) (sandbox.Result, error) { return r, nil }}
}

// echo prints its input.
func echo() *fakeExecutor {
	return &fakeExecutor{run: func(job sandbox.Job) (sandbox.Result, error) {
		return sandbox.Result{Status: sandbox.OK, Stdout: job.Stdin}, nil
	}}
}

func TestVerdictOfARun(t *testing.T) {
	tb := []byte("Traceback (most recent call last):\n  File \"x\"\nValueError: bad\n")
	one := Task{Tests: []Test{{Input: "", Output: "1"}}}
	published := one
	published.Mode = Published
	call := Task{Method: "f", Tests: []Test{{Input: "1", Output: "1"}}}
	tests := []struct {
		name   string
		task   Task
		run    sandbox.Result
		want   sandbox.Verdict
		detail string
	}{
		{"right", one, sandbox.Result{Status: sandbox.OK, Stdout: []byte("1\n")}, sandbox.AC, ""},
		{"wrong", one, sandbox.Result{Status: sandbox.OK, Stdout: []byte("2\n")}, sandbox.WA, "line 1: expected '1', got '2'"},
		{"raised", one, sandbox.Result{Status: sandbox.RuntimeError, ExitCode: 1, Stdout: []byte("1\n"), Stderr: tb}, sandbox.RE, "ValueError: bad (exit status 1)"},
		{"chose a status", one, sandbox.Result{Status: sandbox.RuntimeError, ExitCode: 3, Stdout: []byte("1\n")}, sandbox.RE, "exit status 3"},
		{"chose a status, as published", published, sandbox.Result{Status: sandbox.RuntimeError, ExitCode: 3, Stdout: []byte("1\n")}, sandbox.AC, ""},
		{"raised, as published", published, sandbox.Result{Status: sandbox.RuntimeError, ExitCode: 1, Stdout: []byte("1\n"), Stderr: tb}, sandbox.RE, "ValueError: bad (exit status 1)"},
		{"killed, as published", published, sandbox.Result{Status: sandbox.RuntimeError, ExitCode: 139, Signal: "SIGSEGV"}, sandbox.RE, "killed by SIGSEGV"},
		{"slow", one, sandbox.Result{Status: sandbox.TimeLimitExceeded}, sandbox.TLE, "stopped after 0.0 s of CPU time, 0.0 s in all"},
		{"large", one, sandbox.Result{Status: sandbox.MemoryLimitExceeded, Memory: 5 << 20}, sandbox.MLE, "needed more memory than it may have (5 MB seen)"},
		{"talkative", one, sandbox.Result{Status: sandbox.OutputLimitExceeded}, sandbox.OLE, "wrote more output than it may"},
		{"no Python", one, sandbox.Result{Status: sandbox.CompileError, Stderr: []byte("  x\nSyntaxError: invalid syntax\n")}, sandbox.CE, "SyntaxError: invalid syntax"},
		{"returned", call, sandbox.Result{Status: sandbox.OK, Value: []byte("1")}, sandbox.AC, ""},
		{"printed instead", call, sandbox.Result{Status: sandbox.OK, Stdout: []byte("1")}, sandbox.RE, "the call returned nothing that could be read"},
	}
	for _, tt := range tests {
		report, err := New(always(tt.run)).Judge(t.Context(), "code", tt.task)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if report.Verdict != tt.want || report.Tests[0].Detail != tt.detail {
			t.Errorf("%s: got %s %q, want %s %q", tt.name, report.Verdict, report.Tests[0].Detail, tt.want, tt.detail)
		}
	}
}

func TestNothingToRun(t *testing.T) {
	j := New(always(sandbox.Result{}))
	for _, tt := range []struct {
		name, code string
		task       Task
		want       sandbox.Verdict
	}{
		{"no code", " \n", Task{Tests: []Test{{}}}, sandbox.NoCode},
		{"no tests", "print(1)", Task{}, sandbox.InvalidTask},
		{"an argument that is no JSON", "x", Task{Method: "f", Tests: []Test{{Input: "1", Output: "1"}, {Input: "[1", Output: "1"}}}, sandbox.InvalidTask},
		{"an expected value that is no JSON", "x", Task{Method: "f", Tests: []Test{{Input: "1", Output: "None"}}}, sandbox.InvalidTask},
	} {
		report, err := j.Judge(t.Context(), tt.code, tt.task)
		if err != nil || report.Verdict != tt.want {
			t.Errorf("%s: got %s, %v; want %s", tt.name, report.Verdict, err, tt.want)
		}
	}
}

func TestReportKeepsTheOrderOfTests(t *testing.T) {
	task := Task{Tests: []Test{{"1", "1"}, {"2", "x"}, {"3", "3"}, {"4", "y"}}}
	report, err := New(echo()).Judge(t.Context(), "code", task)
	if err != nil {
		t.Fatal(err)
	}
	var verdicts []string
	for _, r := range report.Tests {
		verdicts = append(verdicts, string(r.Verdict))
	}
	if got := strings.Join(verdicts, " "); got != "AC WA AC WA" || report.Verdict != sandbox.WA {
		t.Errorf("got %s, %s", got, report.Verdict)
	}
	j := New(echo())
	j.StopAtFailure = true
	if report, err = j.Judge(t.Context(), "code", task); err != nil || len(report.Tests) != 2 {
		t.Errorf("stopping at the first failure: %d tests, %v", len(report.Tests), err)
	}
}

func TestJobsHoldWhatLiveCodeBenchGives(t *testing.T) {
	exec := always(sandbox.Result{Status: sandbox.OK, Value: []byte("1")})
	task := Task{Method: "add", Tests: []Test{{Input: "1\n [2, 3] \n\"x\"\n", Output: "1"}}}
	if _, err := New(exec).Judge(t.Context(), "code", task); err != nil {
		t.Fatal(err)
	}
	job := exec.jobs[0]
	if job.Language != "python" || !job.Prelude || job.Limits.CPU != defaultCPU {
		t.Errorf("got language %q, prelude %v, CPU %s", job.Language, job.Prelude, job.Limits.CPU)
	}
	call := job.Call
	if call.Class != "Solution" || call.Method != "add" || len(call.Args) != 3 || string(call.Args[1]) != "[2, 3]" {
		t.Errorf("got call %s.%s%s", call.Class, call.Method, call.Args)
	}
}

// TestExpectedOutputStaysOutside looks for it in everything a candidate's job
// holds.
func TestExpectedOutputStaysOutside(t *testing.T) {
	const secret = "31337"
	exec := &fakeExecutor{run: func(job sandbox.Job) (sandbox.Result, error) {
		if job.Code != "checker" && (strings.Contains(string(job.Stdin), secret) || len(job.Files) > 0 || len(job.Args) > 0) {
			t.Errorf("the candidate's job holds the expected output: %+v", job)
		}
		return sandbox.Result{Status: sandbox.OK}, nil
	}}
	task := Task{Tests: []Test{{"1", secret}}, Checker: &Checker{Mode: "program", Code: "checker"}}
	if _, err := New(exec).Judge(t.Context(), "candidate", task); err != nil {
		t.Fatal(err)
	}
	if len(exec.jobs) != 2 || string(exec.jobs[1].Files["expected"]) != secret {
		t.Errorf("the special judge did not get its three files")
	}
}

func TestSpecialJudge(t *testing.T) {
	tests := []struct {
		name string
		run  sandbox.Result
		want sandbox.Verdict // "" is an error of ours
	}{
		{"accepts", sandbox.Result{Status: sandbox.OK}, sandbox.AC},
		{"rejects", sandbox.Result{Status: sandbox.RuntimeError, ExitCode: 1}, sandbox.WA},
		{"rejects the form", sandbox.Result{Status: sandbox.RuntimeError, ExitCode: 2, Stderr: []byte("bad form")}, sandbox.WA},
		{"raises", sandbox.Result{Status: sandbox.RuntimeError, ExitCode: 1, Stderr: []byte(traceback + "\nKeyError: 1")}, ""},
		{"is killed", sandbox.Result{Status: sandbox.RuntimeError, ExitCode: 137, Signal: "SIGKILL"}, ""},
		{"is slow", sandbox.Result{Status: sandbox.TimeLimitExceeded}, ""},
		{"does not compile", sandbox.Result{Status: sandbox.CompileError}, ""},
	}
	for _, tt := range tests {
		exec := &fakeExecutor{run: func(job sandbox.Job) (sandbox.Result, error) {
			if job.Code == "checker" {
				return tt.run, nil
			}
			return sandbox.Result{Status: sandbox.OK, Stdout: []byte("answer")}, nil
		}}
		task := Task{Tests: []Test{{"in", "out"}}, Checker: &Checker{Mode: "program", Code: "checker"}}
		report, err := New(exec).Judge(t.Context(), "candidate", task)
		if (err != nil) != (tt.want == "") || report.Verdict != tt.want {
			t.Errorf("%s: got %q, %v; want %q", tt.name, report.Verdict, err, tt.want)
		}
	}
}

func TestInfrastructureIsAnError(t *testing.T) {
	broken := errors.New("no jail today")
	exec := &fakeExecutor{run: func(job sandbox.Job) (sandbox.Result, error) {
		if string(job.Stdin) == "2" {
			return sandbox.Result{}, broken
		}
		return sandbox.Result{Status: sandbox.OK}, nil
	}}
	task := Task{ID: "p", Tests: []Test{{"1", ""}, {"2", ""}}}
	for _, stop := range []bool{false, true} {
		j := New(exec)
		j.StopAtFailure = stop
		if _, err := j.Judge(t.Context(), "code", task); !errors.Is(err, broken) {
			t.Errorf("stop at failure %v: got %v", stop, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(exec).Judge(ctx, "code", task); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestUnknownRulesAreErrors(t *testing.T) {
	one := []Test{{"", ""}}
	for _, task := range []Task{
		{Tests: one, Mode: "loose"},
		{Tests: one, Checker: &Checker{Mode: "fuzzy"}},
		{Tests: one, Checker: &Checker{Mode: "abs"}},
		{Tests: one, Checker: &Checker{Mode: "program"}},
	} {
		if _, err := New(echo()).Judge(t.Context(), "code", task); err == nil {
			t.Errorf("judged under mode %q, checker %+v", task.Mode, task.Checker)
		}
	}
}
