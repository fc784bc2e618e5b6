package judge

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/coderl/cr/sandbox"
)

// defaultCPU is LiveCodeBench's limit per test, taken as CPU time so that a busy
// host does not fail programs.
const defaultCPU = 6 * time.Second

// Judge runs programs on tasks through one executor. It is safe for concurrent
// use once its fields are set.
type Judge struct {
	// StopAtFailure ends a report at the first test that is not AC; tests then
	// run one after another, so that the report is the same every time.
	StopAtFailure bool

	exec sandbox.Executor
}

// New returns a judge that runs every test of a task through exec, as many at a
// time as exec has slots.
func New(exec sandbox.Executor) *Judge { return &Judge{exec: exec} }

// Judge runs code on every test of task and compares its answers. An error is
// always ours (the executor or a special judge could not do its work) and means
// infra_error for the caller; whatever the program did is in the report.
func (j *Judge) Judge(ctx context.Context, code string, task Task) (Report, error) {
	if strings.TrimSpace(code) == "" {
		return Report{Verdict: sandbox.NoCode}, nil
	}
	if len(task.Tests) == 0 {
		return Report{Verdict: sandbox.InvalidTask}, nil
	}
	jobs, bad := jobsOf(code, task)
	if bad != nil {
		return Report{Verdict: sandbox.InvalidTask, Tests: []TestResult{*bad}}, nil
	}
	if err := checkRules(task); err != nil {
		return Report{}, fmt.Errorf("judge %s: %w", task.ID, err)
	}
	run := j.runAll
	if j.StopAtFailure {
		run = j.runInOrder
	}
	results, err := run(ctx, jobs, task)
	if err != nil {
		return Report{}, fmt.Errorf("judge %s: %w", task.ID, err)
	}
	return Report{Verdict: firstFailure(results), Tests: results}, nil
}

// runAll hands every test to the executor at once; its slots bound how many run.
func (j *Judge) runAll(ctx context.Context, jobs []sandbox.Job, task Task) ([]TestResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([]TestResult, len(jobs))
	var wg sync.WaitGroup
	for i := range jobs {
		wg.Go(func() {
			result, err := j.runTest(ctx, jobs[i], task, task.Tests[i])
			if err != nil {
				// The first cause stays: later ones are its echoes.
				cancel(fmt.Errorf("test %d: %w", i+1, err))
				return
			}
			results[i] = result
		})
	}
	wg.Wait()
	return results, context.Cause(ctx)
}

func (j *Judge) runInOrder(ctx context.Context, jobs []sandbox.Job, task Task) ([]TestResult, error) {
	var results []TestResult
	for i, job := range jobs {
		result, err := j.runTest(ctx, job, task, task.Tests[i])
		if err != nil {
			return nil, fmt.Errorf("test %d: %w", i+1, err)
		}
		results = append(results, result)
		if result.Verdict != sandbox.AC {
			break
		}
	}
	return results, nil
}

func (j *Judge) runTest(ctx context.Context, job sandbox.Job, task Task, test Test) (TestResult, error) {
	run, err := j.exec.Run(ctx, job)
	if err != nil {
		return TestResult{}, err
	}
	result := TestResult{CPU: run.CPU, Memory: run.Memory}
	if !finished(run, task) {
		result.Verdict, result.Detail = outcome(run)
		return result, nil
	}
	answer := string(run.Stdout)
	if task.Method != "" {
		answer = string(run.Value)
	}
	result.Detail, err = j.compare(ctx, task, test, answer)
	if err != nil {
		return TestResult{}, err
	}
	result.Verdict = sandbox.AC
	if result.Detail != "" {
		result.Verdict = sandbox.WA
	}
	return result, nil
}

// compare returns what is wrong with an answer, "" when it is right.
func (j *Judge) compare(ctx context.Context, task Task, test Test, answer string) (string, error) {
	checker := activeChecker(task)
	switch {
	case checker != nil && checker.Mode == "program":
		return j.special(ctx, *checker, test, answer)
	case task.Method != "":
		return diffValues(test.Output, answer, valueRuleOf(task.Mode, checker)), nil
	default:
		return diffText(test.Output, answer, task.Mode, checker), nil
	}
}

// activeChecker is the task's checker, which Published ignores: LiveCodeBench
// grants neither tolerance nor several answers.
func activeChecker(task Task) *Checker {
	if task.Mode == Published {
		return nil
	}
	return task.Checker
}

// checkRules refuses a mode or checker that no rule stands behind.
func checkRules(task Task) error {
	switch task.Mode {
	case Published, Strict, Tokens, "":
	default:
		return fmt.Errorf("comparison mode %q is none of published, strict, tokens", task.Mode)
	}
	if checker := activeChecker(task); checker != nil {
		return checker.Validate()
	}
	return nil
}

// Validate says what is wrong with a checker as written in a problem file.
func (c Checker) Validate() error {
	switch c.Mode {
	case "exact", "tokens":
		return nil
	case "abs", "rel_or_abs":
		if !(c.Eps > 0) {
			return fmt.Errorf("checker mode %q needs eps > 0", c.Mode)
		}
		return nil
	case "program":
		if strings.TrimSpace(c.Code) == "" {
			return fmt.Errorf("checker mode \"program\" needs code")
		}
		return nil
	default:
		return fmt.Errorf("checker mode %q is none of exact, tokens, abs, rel_or_abs, program", c.Mode)
	}
}

// jobsOf makes one job a test. A functional test that is not JSON makes the
// whole task invalid; its result says which test and why.
func jobsOf(code string, task Task) ([]sandbox.Job, *TestResult) {
	jobs := make([]sandbox.Job, len(task.Tests))
	for i, test := range task.Tests {
		job := sandbox.Job{Language: task.Language, Code: code, Prelude: true, Limits: task.Limits}
		if job.Language == "" {
			job.Language = "python"
		}
		if job.Limits.CPU == 0 {
			job.Limits.CPU = defaultCPU
		}
		if task.Method == "" {
			job.Stdin = []byte(test.Input)
		} else {
			call, err := callOf(task.Method, test)
			if err != nil {
				detail := fmt.Sprintf("test %d: %v", i+1, err)
				return nil, &TestResult{Verdict: sandbox.InvalidTask, Detail: detail}
			}
			job.Call = call
		}
		jobs[i] = job
	}
	return jobs, nil
}

func callOf(method string, test Test) (*sandbox.Call, error) {
	if err := test.Validate(method); err != nil {
		return nil, err
	}
	args, err := arguments(test.Input)
	if err != nil {
		return nil, err
	}
	return &sandbox.Call{Class: "Solution", Method: method, Args: args}, nil
}

// arguments splits a functional test's input, one JSON value a line, into
// positional arguments. Empty input is a call without arguments.
func arguments(input string) ([]json.RawMessage, error) {
	if strings.TrimSpace(input) == "" {
		return nil, nil
	}
	lines := strings.Split(strings.TrimRight(input, "\r\n"), "\n")
	args := make([]json.RawMessage, len(lines))
	for i, line := range lines {
		if !json.Valid([]byte(line)) {
			return nil, fmt.Errorf("input line %d is not a JSON value: %s", i+1, quote(line))
		}
		args[i] = json.RawMessage(strings.TrimSpace(line))
	}
	return args, nil
}

func firstFailure(results []TestResult) sandbox.Verdict {
	for _, result := range results {
		if result.Verdict != sandbox.AC {
			return result.Verdict
		}
	}
	return sandbox.AC
}
