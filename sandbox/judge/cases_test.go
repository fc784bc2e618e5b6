package judge_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

func TestMain(m *testing.M) {
	sandbox.MaybeRunStub()
	os.Exit(m.Run())
}

// openSandbox starts the local sandbox, or skips where the host cannot isolate.
func openSandbox(t *testing.T) *sandbox.Local {
	t.Helper()
	local, err := sandbox.NewLocal(sandbox.LocalOptions{})
	if errors.Is(err, sandbox.ErrNoIsolation) {
		t.Skipf("this host cannot isolate programs: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := local.Close(); err != nil {
			t.Errorf("close the sandbox: %v", err)
		}
	})
	return local
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

// TestKnownPains judges, in the real sandbox, the programs that other judges
// are known to get wrong.
func TestKnownPains(t *testing.T) {
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
	j := judge.New(openSandbox(t))
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			task := judge.Task{ID: c.ID, Method: c.Method, Tests: c.Tests, Mode: judge.Strict, Checker: c.Checker}
			task.Limits.CPU = time.Duration(c.Limits.Seconds * float64(time.Second))
			task.Limits.Memory = c.Limits.MemoryMB << 20
			report, err := j.Judge(t.Context(), c.Code, task)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.EqualFold(string(report.Verdict), c.Want) {
				t.Errorf("got %s, want %s: %+v", report.Verdict, c.Want, report.Tests)
			}
		})
	}
}

// TestPublishedOddities are the verdicts that differ from strict on purpose.
func TestPublishedOddities(t *testing.T) {
	j := judge.New(openSandbox(t))
	call := judge.Task{Method: "p", Tests: []judge.Test{{Input: "4", Output: "1"}}}
	text := judge.Task{Tests: []judge.Test{{Input: "", Output: "1000\n"}}}
	for _, tt := range []struct {
		name, code string
		task       judge.Task
		published  sandbox.Verdict
		strict     sandbox.Verdict
	}{
		{"underscores", "print('1_000')", text, sandbox.AC, sandbox.WA},
		{"a chosen exit status", "print(1000)\nraise SystemExit(3)", text, sandbox.AC, sandbox.RE},
		{"an exception", "print(1000)\nraise ValueError(3)", text, sandbox.RE, sandbox.RE},
		{"True for 1", "class Solution:\n    def p(self, a):\n        return True", call, sandbox.AC, sandbox.WA},
		{"nearly 1", "class Solution:\n    def p(self, a):\n        return 1 + 1e-12", call, sandbox.WA, sandbox.WA},
		{"one as a float", "class Solution:\n    def p(self, a):\n        return 1.0", call, sandbox.AC, sandbox.AC},
	} {
		for mode, want := range map[judge.Mode]sandbox.Verdict{judge.Published: tt.published, judge.Strict: tt.strict} {
			task := tt.task
			task.Mode = mode
			report, err := j.Judge(t.Context(), tt.code, task)
			if err != nil || report.Verdict != want {
				t.Errorf("%s under %s: got %s, %v; want %s", tt.name, mode, report.Verdict, err, want)
			}
		}
	}
}

// TestSpecialJudgeInTheSandbox runs a real one, which reads its three files.
func TestSpecialJudgeInTheSandbox(t *testing.T) {
	j := judge.New(openSandbox(t))
	code := "import sys\ngiven, output, expected = (open(p).read().split() for p in sys.argv[1:])\n" +
		"sys.exit(0 if given == ['5'] and expected == ['x'] and sorted(output) == ['1', '2'] else 'neither order')\n"
	task := judge.Task{
		Tests:   []judge.Test{{Input: "5\n", Output: "x\n"}},
		Checker: &judge.Checker{Mode: "program", Code: code},
	}
	for program, want := range map[string]judge.TestResult{
		"print(2, 1)": {Verdict: sandbox.AC},
		"print(2, 2)": {Verdict: sandbox.WA, Detail: "special judge: neither order"},
	} {
		report, err := j.Judge(t.Context(), program, task)
		if err != nil {
			t.Fatal(err)
		}
		if got := report.Tests[0]; got.Verdict != want.Verdict || got.Detail != want.Detail {
			t.Errorf("%s: got %s %q, want %s %q", program, got.Verdict, got.Detail, want.Verdict, want.Detail)
		}
	}
	task.Checker = &judge.Checker{Mode: "program", Code: "1 / 0"}
	if _, err := j.Judge(t.Context(), "print(1)", task); err == nil {
		t.Error("a special judge that raises gave a verdict")
	}
}
