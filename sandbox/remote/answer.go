package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/coderl/cr/sandbox"
)

// The statuses of an answer, and of a command in it.
const (
	success  = "Success"
	failed   = "Failed"
	finished = "Finished"
	timedOut = "TimeLimitExceeded"
)

// notFound is the exit status of a shell that finds no such command.
const notFound = 127

var (
	// errAnswer means that an answer is not what the API promises.
	errAnswer = errors.New("the service's answer makes no sense")
	// errNotText means that a program cannot be written as JSON.
	errNotText = fmt.Errorf("%w: the program is no UTF-8 text, which a service cannot be sent", ErrUnfit)
	// errService means that the service says the fault is its own.
	errService = errors.New("the service could not run the program")
)

// parseAnswer reads an answer and sorts out those that say nothing of the
// program.
func parseAnswer(data []byte) (*answer, error) {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, fmt.Errorf("%w: %w", errAnswer, err)
	}
	switch a.Status {
	case success, failed:
		return &a, nil
	case "SandboxError":
		return nil, fmt.Errorf("%w: SandboxError: %s", errService, short(a.Message))
	}
	return nil, fmt.Errorf("%w: status %.40q", errAnswer, a.Status)
}

// foreignResult reads an answer of any service. CPU time is not told, so wall
// time stands for it.
func foreignResult(data []byte, job *sandbox.Job) (sandbox.Result, error) {
	a, err := parseAnswer(data)
	if err != nil {
		return sandbox.Result{}, err
	}
	r := sandbox.Result{Files: a.Files}
	if step := a.CompileResult; step != nil {
		bad := step.ReturnCode == nil || *step.ReturnCode != 0
		if step.ReturnCode != nil && *step.ReturnCode == notFound {
			return r, missing(job, step)
		}
		if r.Compile = step.step(bad); r.Compile.Status != sandbox.OK {
			r.Status = sandbox.CompileError
			return r, nil
		}
	}
	if a.RunResult == nil {
		return r, fmt.Errorf("%w: it has no run_result", errAnswer)
	}
	return r, fillRun(&r, a.RunResult, job)
}

// fillRun adds what the program did.
func fillRun(r *sandbox.Result, run *command, job *sandbox.Job) error {
	r.Stdout, r.Stderr = []byte(run.Stdout), []byte(run.Stderr)
	r.Wall = seconds(run.ExecutionTime)
	r.CPU = r.Wall
	switch {
	case run.Status == timedOut:
		r.Status = sandbox.TimeLimitExceeded
		return nil
	case run.Status != finished || run.ReturnCode == nil:
		return fmt.Errorf("%w: run_result has status %.40q and no return code", errAnswer, run.Status)
	}
	code := *run.ReturnCode
	switch {
	case code == notFound && strings.Contains(run.Stderr, "bash: line 1: ") && strings.Contains(run.Stderr, "not found"):
		return missing(job, run)
	case code < 0:
		r.ExitCode, r.Signal = 128-code, signalName(-code)
	default:
		r.ExitCode = code
	}
	r.Status = statusOf(r, job)
	return nil
}

// missing says that the service lacks a language, which looks like a failed
// program.
func missing(job *sandbox.Job, c *command) error {
	return fmt.Errorf("%w: %s is not installed there: %s", ErrUnfit, job.Language, short(c.Stderr))
}

func signalName(n int) string {
	if name := unix.SignalName(syscall.Signal(n)); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", n)
}

// statusOf ranks what is known of a run that ended by itself. Python's last words
// tell a refused allocation and a source that does not compile; a program that
// forges them fails for another reason than it did.
func statusOf(r *sandbox.Result, job *sandbox.Job) sandbox.Status {
	last := strings.TrimSpace(string(r.Stderr))
	last = last[strings.LastIndexByte(last, '\n')+1:]
	python := job.Language == "python" && r.ExitCode == 1
	switch {
	case int64(len(r.Stdout)) > job.Limits.Output:
		return sandbox.OutputLimitExceeded
	case r.ExitCode == 0:
		return sandbox.OK
	case python && (strings.HasPrefix(last, "MemoryError") || strings.HasPrefix(last, "OSError: [Errno 12]")):
		return sandbox.MemoryLimitExceeded
	case python && !strings.Contains(string(r.Stderr), "Traceback (most recent call last):") && syntaxError(last):
		return sandbox.CompileError
	}
	return sandbox.RuntimeError
}

func syntaxError(line string) bool {
	for _, name := range [...]string{"SyntaxError:", "IndentationError:", "TabError:"} {
		if strings.HasPrefix(line, name) {
			return true
		}
	}
	return false
}
