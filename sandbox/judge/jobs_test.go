package judge

import (
	"testing"

	"github.com/coderl/cr/sandbox"
)

func TestLinesModeFreesWhiteSpaceInsideALine(t *testing.T) {
	for _, tt := range []struct {
		expected, got string
		same          bool
	}{
		{"1 2", "1  2", true},
		{"a\tb c", "a b   c", true},
		{"1 2", "1\n2", false},
		{"1\n2", "1 2", false},
		{"ab", "a b", false},
		{"0.50 0.25", "0.5  0.25", true},
		{"YES", "yes", false},
		{"1000", "1_000", false},
		{"x 1.50", "x 1.5", false}, // a line is a line of numbers or it is not, as in strict
		{"a\n\nb", "a\nb", false},
	} {
		if diff := diffText(tt.expected, tt.got, Lines, nil); (diff == "") != tt.same {
			t.Errorf("expected %q, got %q: %q", tt.expected, tt.got, diff)
		}
	}
}

func TestLinesModeGrantsNoTolerance(t *testing.T) {
	for _, tt := range []struct {
		expected, got string
		same          bool
	}{
		{"0.3", "0.30000000000000004", false},
		{"[1.0, NaN]", "[1, NaN]", true},
		{"1", "true", false},
		{"123456789012345678901", "123456789012345678902", false},
	} {
		if diff := diffValues(tt.expected, tt.got, valueRuleOf(Lines, nil)); (diff == "") != tt.same {
			t.Errorf("expected %s, got %s: %q", tt.expected, tt.got, diff)
		}
	}
}

func TestFunctionsOfTheProgramAreCalledWithoutAClass(t *testing.T) {
	exec := always(sandbox.Result{Status: sandbox.OK, Value: []byte("NaN")})
	task := Task{Method: "f", Function: true, Plain: true, Tests: []Test{{Input: "[NaN, -Infinity]", Output: "NaN"}}}
	report, err := New(exec).Judge(t.Context(), "code", task)
	if err != nil || report.Verdict != sandbox.AC {
		t.Fatalf("got %v, %v", report, err)
	}
	if exec.jobs[0].Prelude {
		t.Error("a plain program got the prelude")
	}
	if call := exec.jobs[0].Call; call.Class != "" || call.Method != "f" || len(call.Args) != 1 {
		t.Errorf("got call %+v", call)
	}
}

func TestSpecialJudgeByName(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  sandbox.Result
		want sandbox.Verdict // "" is an error of ours
	}{
		{"accepts", sandbox.Result{Status: sandbox.OK}, sandbox.AC},
		{"rejects", sandbox.Result{Status: sandbox.RuntimeError, ExitCode: 1}, sandbox.WA},
		{"raises", sandbox.Result{Status: sandbox.RuntimeError, ExitCode: 1, Stderr: []byte(traceback + "\nValueError: x")}, sandbox.WA},
		{"aborts", sandbox.Result{Status: sandbox.RuntimeError, ExitCode: 134, Signal: "SIGABRT"}, sandbox.WA},
		{"is slow", sandbox.Result{Status: sandbox.TimeLimitExceeded}, ""},
		{"does not compile", sandbox.Result{Status: sandbox.CompileError}, ""},
	} {
		exec := &fakeExecutor{run: func(job sandbox.Job) (sandbox.Result, error) {
			if job.Code == "checker" {
				return tt.run, nil
			}
			return sandbox.Result{Status: sandbox.OK, Stdout: []byte("answer")}, nil
		}}
		task := Task{
			Tests:   []Test{{"in", "out"}},
			Checker: &Checker{Mode: "program", Code: "checker", Form: ByName},
		}
		report, err := New(exec).Judge(t.Context(), "candidate", task)
		if (err != nil) != (tt.want == "") || report.Verdict != tt.want {
			t.Errorf("%s: got %q, %v; want %q", tt.name, report.Verdict, err, tt.want)
		}
		files := exec.jobs[1].Files
		if string(files["stdin.txt"]) != "in" || string(files["stdout.txt"]) != "out" || string(files["answer.txt"]) != "answer" {
			t.Errorf("%s: got files %q", tt.name, files)
		}
	}
}

func TestOneTestKeepsItsRun(t *testing.T) {
	task := Task{Tests: []Test{{"1", "2"}}, Mode: Lines}
	result, err := New(echo()).JudgeTest(t.Context(), "code", task, task.Tests[0])
	if err != nil || result.Verdict != sandbox.WA || string(result.Run.Stdout) != "1" {
		t.Errorf("got %+v, %v", result, err)
	}
	report, err := New(echo()).Judge(t.Context(), "code", task)
	if err != nil || report.Tests[0].Run.Stdout != nil {
		t.Errorf("a report holds on to runs: %+v, %v", report, err)
	}
}
