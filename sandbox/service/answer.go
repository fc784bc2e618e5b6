package service

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// The statuses of an answer, and of a command in it.
const (
	success      = "Success"
	failed       = "Failed"
	sandboxError = "SandboxError"

	finished  = "Finished"
	timedOut  = "TimeLimitExceeded"
	caseTimed = "Case Timeout"
	allTimed  = "Total Timeout"
)

// Limits on what an answer repeats of a program's output.
const (
	flooded   = 64 << 10 // of the output of a program that wrote too much
	shownCase = 1000     // characters of a passed case
	shownSaid = 4 << 10  // of stderr in a message
	keptTotal = 32 << 20 // of the outputs of all cases of an evaluation
)

// commandResult is one command of a run: the compiler, or the program.
type commandResult struct {
	Status        string  `json:"status"`
	ExecutionTime float64 `json:"execution_time"`
	ReturnCode    *int    `json:"return_code"`
	Stdout        string  `json:"stdout"`
	Stderr        string  `json:"stderr"`
}

// runResponse is the answer of /run_code.
type runResponse struct {
	Status        string            `json:"status"`
	Message       string            `json:"message"`
	CompileResult *commandResult    `json:"compile_result"`
	RunResult     *commandResult    `json:"run_result"`
	PodName       *string           `json:"executor_pod_name"`
	Files         map[string]string `json:"files"`
	Extension     *extensionAnswer  `json:"cr,omitempty"` // for requests that have that member
}

// testResponse is one case of an evaluation.
type testResponse struct {
	Passed   bool            `json:"passed"`
	ExecInfo runResponse     `json:"exec_info"`
	TestInfo json.RawMessage `json:"test_info"`
}

// evalResponse is the answer of an evaluation.
type evalResponse struct {
	ID            json.RawMessage   `json:"id"`
	Accepted      bool              `json:"accepted"`
	ExtractedCode string            `json:"extracted_code"`
	FullCode      *string           `json:"full_code"`
	TestCode      *string           `json:"test_code"`
	Tests         []testResponse    `json:"tests"`
	ExtractedType *string           `json:"extracted_type"`
	Extra         map[string]string `json:"extra"`
}

// ours is the answer for a failure of the sandbox; nothing is said of the
// program.
func ours(message string) runResponse {
	return runResponse{Status: sandboxError, Message: message, Files: map[string]string{}}
}

// answerOf renders a run. A run that ended well is a Success, whatever it wrote.
func answerOf(run *sandbox.Result) runResponse {
	r := runResponse{Status: failed, Files: map[string]string{}}
	for name, data := range run.Files {
		r.Files[name] = base64.StdEncoding.EncodeToString(data)
	}
	if c := run.Compile; c != nil {
		r.CompileResult = &commandResult{
			Status: finished, ExecutionTime: c.Wall.Seconds(), ReturnCode: &c.ExitCode,
			Stdout: readable(c.Stdout), Stderr: readable(c.Stderr),
		}
		if c.Status == sandbox.TimeLimitExceeded {
			r.CompileResult.Status, r.CompileResult.ReturnCode = timedOut, nil
		}
		if c.Status != sandbox.OK {
			return r
		}
	}
	r.RunResult = &commandResult{
		Status: finished, ExecutionTime: run.Wall.Seconds(), ReturnCode: returnCode(run),
		Stdout: readable(run.Stdout), Stderr: readable(run.Stderr),
	}
	switch run.Status {
	case sandbox.OK:
		r.Status = success
	case sandbox.TimeLimitExceeded:
		r.RunResult.Status = timedOut
	case sandbox.MemoryLimitExceeded:
		r.Message = "Memory Limit Exceeded"
	case sandbox.OutputLimitExceeded:
		r.Message = "Output Limit Exceeded"
		r.RunResult.Stdout = readable(run.Stdout[:min(len(run.Stdout), flooded)])
	}
	return r
}

// returnCode is a process's exit status as Python's subprocess gives it: minus
// the signal's number for one that was killed, nothing for one that was stopped.
func returnCode(run *sandbox.Result) *int {
	code := run.ExitCode
	switch {
	case run.Status == sandbox.TimeLimitExceeded:
		return nil
	case run.Signal != "":
		code = -int(signalNumber(run.Signal, run.ExitCode))
	case code == 0 && (run.Status == sandbox.MemoryLimitExceeded || run.Status == sandbox.OutputLimitExceeded):
		code = -int(syscall.SIGKILL) // the jail stopped it
	}
	return &code
}

// signalNumber falls back on the shell's convention, 128 and the number.
func signalNumber(name string, exit int) syscall.Signal {
	if n := unix.SignalNum(name); n != 0 {
		return n
	}
	return syscall.Signal(exit & 0x7f)
}

// readable is output as text; bytes that are no UTF-8 become U+FFFD each.
func readable(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	var b strings.Builder
	for _, r := range string(data) {
		b.WriteRune(r) // ranging yields U+FFFD for each wrong byte
	}
	return b.String()
}

// rowOf renders one judged case.
func rowOf(c *testCase, result *judge.TestResult, full bool) testResponse {
	row := testResponse{ExecInfo: answerOf(&result.Run), Passed: result.Verdict == sandbox.AC}
	info := &row.ExecInfo
	switch {
	case row.Passed, info.RunResult == nil:
	case result.Verdict == sandbox.TLE:
		info.Message = caseTimed
		if info.RunResult.Stderr == "" {
			info.RunResult.Stderr = caseTimed
		}
	case c.kind == functionCall && result.Verdict == sandbox.WA:
		wrong := 1
		info.Status, info.Message = failed, "Wrong Answer"
		info.RunResult.ReturnCode, info.RunResult.Stderr = &wrong, "Wrong Answer"
	case info.Message != "":
	case c.kind == functionCall:
		info.Message = "Execution Failed"
	case result.Verdict != sandbox.WA:
		info.Message = info.RunResult.Stderr[:min(len(info.RunResult.Stderr), shownSaid)]
	}
	row.TestInfo = c.info(row.Passed && !full)
	return row
}

// brokenRow fails a call that nothing could return the right value of.
func brokenRow(c *testCase) testResponse {
	code := 1
	return testResponse{
		TestInfo: c.info(false),
		ExecInfo: runResponse{
			Status: failed, Message: "Execution Failed", Files: map[string]string{},
			RunResult: &commandResult{Status: finished, ReturnCode: &code, Stderr: c.broken},
		},
	}
}

// oursRow is a case that the sandbox could not judge.
func oursRow(c *testCase, message string) testResponse {
	return testResponse{ExecInfo: ours(message), TestInfo: c.info(false)}
}

// info echoes a case, cut where it is long and of no more interest.
func (c *testCase) info(cut bool) json.RawMessage {
	type stream struct {
		Stdin  *string `json:"stdin,omitempty"`
		Stdout *string `json:"stdout,omitempty"`
	}
	var v any
	switch c.kind {
	case assertions:
		return json.RawMessage("null")
	case functionCall:
		v = struct {
			Type   string          `json:"type"`
			Name   string          `json:"fn_name"`
			Input  json.RawMessage `json:"input"`
			Output json.RawMessage `json:"output"`
		}{functionCall, c.fn, c.input.strict(), c.output.strict()}
	default:
		in, out := c.test.Input, c.test.Output
		if cut {
			in, out = middleCut(in), middleCut(out)
		}
		v = struct {
			Input  stream `json:"input"`
			Output stream `json:"output"`
		}{stream{Stdin: &in}, stream{Stdout: &out}}
	}
	return encode(v)
}

// middleCut shortens a long text to both of its ends.
func middleCut(s string) string {
	if len(s) <= shownCase || utf8.RuneCountInString(s) <= shownCase {
		return s
	}
	const dots = "..."
	const end = (shownCase - len(dots)) / 2
	head, tail := 0, len(s)
	for range end {
		_, first := utf8.DecodeRuneInString(s[head:])
		_, last := utf8.DecodeLastRuneInString(s[:tail])
		head, tail = head+first, tail-last
	}
	return s[:head] + dots + s[tail:] // a copy: the whole must not stay in memory
}
