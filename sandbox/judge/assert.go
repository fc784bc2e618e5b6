package judge

import (
	"context"
	"fmt"
	"strings"

	"github.com/coderl/cr/sandbox"
)

// Assert is a task judged by test code instead of by answers, as HumanEval and
// MBPP are. The test code runs in a process that the program cannot reach.
type Assert struct {
	Tests string // asserts, or a function check(candidate)
	Entry string // name of the function under test; "" where the asserts name it
	// Setup is code of the problem's own that its tests may use, such as a
	// HumanEval prompt with its helpers; "" takes what the tests lack from the
	// program.
	Setup string
	// Main runs the program as __main__, so that its main guard runs.
	Main bool
}

// invalid says why no program can be judged by an Assert.
func (a *Assert) invalid(language string) string {
	switch {
	case strings.TrimSpace(a.Tests) == "":
		return "the test code is empty"
	case !isPython(language):
		return "assertions about programs in " + language + " are judged by running them together"
	}
	return ""
}

func isPython(language string) bool {
	switch strings.ToLower(language) {
	case "", "python", "python3", "py":
		return true
	}
	return false
}

// judgeAssert makes a report of the one test that test code is.
func (j *Judge) judgeAssert(ctx context.Context, code string, task Task) (Report, error) {
	if bad := task.Assert.invalid(task.Language); bad != "" {
		result := TestResult{Verdict: sandbox.InvalidTask, Detail: bad}
		return Report{Verdict: result.Verdict, Tests: []TestResult{result}}, nil
	}
	result, err := j.runTest(ctx, code, task, Test{})
	if err != nil {
		return Report{}, fmt.Errorf("judge %s: %w", task.ID, err)
	}
	return Report{Verdict: result.Verdict, Tests: []TestResult{result}}, nil
}

// runAssert judges by assertions. The second run, with the tests in the
// program's own process, is asked for by the tests alone: they hand objects over
// that cannot cross as data.
func (j *Judge) runAssert(ctx context.Context, code string, task Task) (TestResult, error) {
	job, err := jobOf(code, task, Test{})
	if err != nil {
		return TestResult{}, err
	}
	a := task.Assert
	job.Check = &sandbox.Check{Tests: a.Tests, Entry: a.Entry, Setup: a.Setup, Main: a.Main}
	run, err := j.exec.Run(ctx, job)
	together := err == nil && run.Check != nil && run.Check.Kind == sandbox.CheckLive
	if together {
		job.Check.Together = true
		run, err = j.exec.Run(ctx, job)
	}
	if err != nil {
		return TestResult{}, err
	}
	result := TestResult{CPU: run.CPU, Memory: run.Memory, Run: run, Together: together}
	result.Verdict, result.Detail = assertVerdict(run)
	if together {
		result.Detail = strings.TrimSuffix("judged in the program's own process, since the tests need its objects: "+result.Detail, ": ")
	}
	return result, nil
}

func assertVerdict(run sandbox.Result) (sandbox.Verdict, string) {
	c := run.Check
	switch {
	case c == nil && run.Status == sandbox.OK:
		return sandbox.RE, "the tests came to no end"
	case c == nil:
		return outcome(run)
	case c.Passed:
		return sandbox.AC, ""
	}
	detail := cut(strings.Join(strings.Fields(c.Detail), " "), 400)
	switch c.Kind {
	case sandbox.CheckAssert:
		return sandbox.WA, detail
	case sandbox.CheckTask:
		return sandbox.InvalidTask, detail
	default:
		return sandbox.RE, detail
	}
}
