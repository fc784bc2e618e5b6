package judge

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/calls"
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
		Language: task.Language, Code: code, Prelude: !task.Plain, LongInts: true,
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
	if err == nil && !isPython(job.Language) {
		return job, writeCall(&job, task.Method, args)
	}
	job.Call = &sandbox.Call{Class: "Solution", Method: task.Method, Args: args}
	if task.Function {
		job.Call.Class = ""
	}
	return job, err
}

// writeCall makes a job of a call in a language whose functions the sandbox does
// not call itself.
func writeCall(job *sandbox.Job, method string, args []json.RawMessage) error {
	p, err := calls.Write(calls.Call{Language: job.Language, Code: job.Code, Name: method, Args: args})
	if err != nil {
		return err
	}
	job.Code, job.Args, job.Files, job.Fetch = p.Code, p.Args, p.Files, []string{calls.ValueFile}
	return nil
}

// writtenValue is the value that such a job left. Shells and Perl have no types,
// so there the expected value says whether text is meant.
func writtenValue(language, expected string, value []byte) json.RawMessage {
	text := strings.TrimSpace(string(value))
	if value == nil || !calls.Weak(language) {
		return json.RawMessage(text)
	}
	var inner string
	if json.Unmarshal([]byte(text), &inner) == nil {
		text = inner
	}
	if strings.HasPrefix(strings.TrimSpace(expected), `"`) || !isValue(text) {
		quoted, err := json.Marshal(text)
		if err != nil {
			return nil // a string always encodes
		}
		return quoted
	}
	return json.RawMessage(text)
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
