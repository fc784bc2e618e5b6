package judge

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/coderl/cr/sandbox"
)

// Validate says why a test cannot be judged as a call of method: an input line
// or the expected output that is not JSON. Without a method every text will do.
func (t Test) Validate(method string) error {
	if method == "" {
		return nil
	}
	if _, err := arguments(t.Input); err != nil {
		return err
	}
	if _, err := parseValue(t.Output); err != nil {
		return fmt.Errorf("expected output: %w", err)
	}
	return nil
}

// invalid finds the first test that cannot be judged; its result says why.
func invalid(task Task) *TestResult {
	for i, test := range task.Tests {
		if err := test.Validate(task.Method); err != nil {
			return &TestResult{Verdict: sandbox.InvalidTask, Detail: fmt.Sprintf("test %d: %v", i+1, err)}
		}
	}
	return nil
}

func jobOf(code string, task Task, test Test) (sandbox.Job, error) {
	job := sandbox.Job{
		Language: task.Language, Code: code, Prelude: !task.Plain,
		Limits: task.Limits, CompileTime: task.CompileTime,
	}
	if job.Language == "" {
		job.Language = "python"
	}
	if job.Limits.CPU == 0 {
		job.Limits.CPU = defaultCPU
	}
	if task.Method == "" {
		job.Stdin = []byte(test.Input)
		return job, nil
	}
	args, err := arguments(test.Input)
	job.Call = &sandbox.Call{Class: "Solution", Method: task.Method, Args: args}
	if task.Function {
		job.Call.Class = ""
	}
	return job, err
}

// isValue says whether text is one JSON value in Python's dialect.
func isValue(text string) bool {
	if json.Valid([]byte(text)) {
		return true
	}
	_, err := parseValue(text)
	return err == nil
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
		if !isValue(line) {
			return nil, fmt.Errorf("input line %d is not a JSON value: %s", i+1, quote(line))
		}
		args[i] = json.RawMessage(strings.TrimSpace(line))
	}
	return args, nil
}
