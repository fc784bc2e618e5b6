package judge

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/calls"
)

// defaultCPU is LiveCodeBench's limit per test, taken as CPU time so that a busy
// host does not fail programs.
const defaultCPU = 6 * time.Second

// defaultParallel keeps the slots of a usual machine busy.
const defaultParallel = 16

// Judge runs programs on tasks through one executor. It is safe for concurrent
// use once its fields are set.
type Judge struct {
	// StopAtFailure ends a report at the first test that is not AC; tests then
	// run one after another, so that the report is the same every time.
	StopAtFailure bool
	// Parallel is how many tests of one program may be in flight; 0 means 16.
	// How many run is up to the executor's slots: this bounds the copies of
	// inputs that wait for one.
	Parallel int

	exec sandbox.Executor
}

// New returns a judge that runs every test of a task through exec.
func New(exec sandbox.Executor) *Judge { return &Judge{exec: exec} }

// Judge runs code on every test of task and compares its answers. An error is
// always ours (the executor or a special judge could not do its work) and means
// infra_error for the caller; whatever the program did is in the report.
func (j *Judge) Judge(ctx context.Context, code string, task Task) (Report, error) {
	if strings.TrimSpace(code) == "" {
		return Report{Verdict: sandbox.NoCode}, nil
	}
	if task.Assert != nil {
		return j.judgeAssert(ctx, code, task)
	}
	if len(task.Tests) == 0 {
		return Report{Verdict: sandbox.InvalidTask}, nil
	}
	if bad := invalid(task); bad != nil {
		return Report{Verdict: sandbox.InvalidTask, Tests: []TestResult{*bad}}, nil
	}
	if err := task.CheckRules(); err != nil {
		return Report{}, fmt.Errorf("judge %s: %w", task.ID, err)
	}
	run := j.runAll
	if j.StopAtFailure {
		run = j.runInOrder
	}
	results, err := run(ctx, code, task)
	if err != nil {
		return Report{}, fmt.Errorf("judge %s: %w", task.ID, err)
	}
	return Report{Verdict: firstFailure(results), Tests: results}, nil
}

func (j *Judge) runAll(ctx context.Context, code string, task Task) ([]TestResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	parallel := j.Parallel
	if parallel <= 0 {
		parallel = defaultParallel
	}
	results := make([]TestResult, len(task.Tests))
	places := make(chan struct{}, parallel)
	var wg sync.WaitGroup
	for i, test := range task.Tests {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			result, err := j.runTest(ctx, code, task, test)
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

func (j *Judge) runInOrder(ctx context.Context, code string, task Task) ([]TestResult, error) {
	var results []TestResult
	for i, test := range task.Tests {
		result, err := j.runTest(ctx, code, task, test)
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

// runTest is JudgeTest without the run, which a report of many tests must not
// hold on to.
func (j *Judge) runTest(ctx context.Context, code string, task Task, test Test) (TestResult, error) {
	result, err := j.JudgeTest(ctx, code, task, test)
	result.Run = sandbox.Result{}
	return result, err
}

// JudgeTest runs code on one test of task, for callers that schedule tests
// themselves; the task's other tests play no part. An error is ours, as in
// [Judge.Judge].
func (j *Judge) JudgeTest(ctx context.Context, code string, task Task, test Test) (TestResult, error) {
	if task.Assert != nil {
		return j.runAssert(ctx, code, task)
	}
	job, err := jobOf(code, task, test)
	if err != nil {
		return TestResult{}, err
	}
	run, err := j.exec.Run(ctx, job)
	if err != nil {
		return TestResult{}, err
	}
	if task.Method != "" && job.Call == nil && run.Status == sandbox.OK {
		run.Value = writtenValue(job.Language, test.Output, run.Files[calls.ValueFile])
		if len(run.Value) == 0 {
			// It ended well, but before its call returned.
			run.Value, run.Status, run.ExitCode = nil, sandbox.RuntimeError, 1
		}
		run.Files = nil
	}
	result := TestResult{CPU: run.CPU, Memory: run.Memory, Run: run}
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

func firstFailure(results []TestResult) sandbox.Verdict {
	for _, result := range results {
		if result.Verdict != sandbox.AC {
			return result.Verdict
		}
	}
	return sandbox.AC
}
