package service

import (
	"context"
	"time"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// AssertTask is a program to be judged by assertions in its own language, as
// HumanEval (Python: Test and EntryPoint) and MultiPL-E (Tests and StopTokens)
// have them.
type AssertTask struct {
	Language    string
	Code        string
	Test        string   // defines check(candidate)
	EntryPoint  string   // the function that is the candidate
	Tests       string   // source text that follows the program
	StopTokens  []string // the program ends where one of these begins
	Limits      sandbox.Limits
	CompileTime time.Duration
}

// AssertResult is an AssertTask's outcome.
type AssertResult struct {
	judge.TestResult
	Extracted string // the program that was judged
	FullCode  string // the program with its tests, for people
}

// AssertJudge judges programs by assertions. An error is ours.
type AssertJudge interface {
	JudgeAssert(ctx context.Context, task AssertTask) (AssertResult, error)
}

// parseAssert reads the test_cases of type assert.
func parseAssert(faults *problems, data raw, language string) (task AssertTask) {
	loc := []any{"body", "config", "provided_data"}
	f, ok := openDict(faults, loc, data)
	if !ok {
		return task
	}
	f, ok = openDict(faults, f.at("test_cases"), f.values["test_cases"])
	if !ok {
		return task
	}
	if tagNames("python", language) {
		task.Test, task.EntryPoint = f.requiredText("test"), f.requiredText("entry_point")
		return task
	}
	task.Tests = f.requiredText("tests")
	for i, v := range f.list("stop_tokens") {
		if token, ok := textOf(faults, append(f.at("stop_tokens"), i), v); ok {
			task.StopTokens = append(task.StopTokens, token)
		}
	}
	return task
}

// evaluateAssert judges code by its assertions, which make one row.
func (s *Service) evaluateAssert(ctx context.Context, client string, task AssertTask) (AssertResult, testResponse, error) {
	c := &testCase{kind: assertions}
	if s.cfg.Assert == nil {
		return AssertResult{Extracted: task.Code}, oursRow(c, "cases of type assert cannot be judged here"), nil
	}
	if err := s.acquire(ctx, client); err != nil {
		return AssertResult{}, testResponse{}, err
	}
	defer s.gate.release()
	result, err := s.cfg.Assert.JudgeAssert(ctx, task)
	switch {
	case ctx.Err() != nil:
		return AssertResult{}, testResponse{}, ctx.Err()
	case err != nil:
		return AssertResult{Extracted: task.Code}, oursRow(c, s.fault(ctx, "evaluate", err)), nil
	}
	s.metrics.verdicts.WithLabelValues(string(result.Verdict)).Inc()
	return result, rowOf(c, &result.TestResult, false), nil
}
