package judge

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/coderl/cr/sandbox"
)

// traceback opens what Python prints for an exception nobody caught.
const traceback = "Traceback (most recent call last):"

// finished reports whether a run has an answer to compare. LiveCodeBench
// swallows SystemExit, so under Published a program that chose its exit status
// still has one; an uncaught exception is told from it by its traceback.
func finished(run sandbox.Result, task Task) bool {
	if run.Status == sandbox.OK {
		return task.Method == "" || run.Value != nil
	}
	return task.Mode == Published && task.Method == "" && run.Status == sandbox.RuntimeError &&
		run.ExitCode > 0 && run.Signal == "" && !bytes.Contains(run.Stderr, []byte(traceback))
}

// outcome is the verdict of a run without an answer, with a line about why.
func outcome(run sandbox.Result) (sandbox.Verdict, string) {
	switch run.Status {
	case sandbox.TimeLimitExceeded:
		return sandbox.TLE, fmt.Sprintf("stopped after %.1f s of CPU time, %.1f s in all", run.CPU.Seconds(), run.Wall.Seconds())
	case sandbox.MemoryLimitExceeded:
		return sandbox.MLE, fmt.Sprintf("needed more memory than it may have (%d MB seen)", run.Memory>>20)
	case sandbox.OutputLimitExceeded:
		return sandbox.OLE, "wrote more output than it may"
	case sandbox.CompileError:
		return sandbox.CE, compileDetail(run)
	case sandbox.OK:
		return sandbox.RE, "the call returned nothing that could be read"
	default:
		return sandbox.RE, runtimeDetail(run)
	}
}

// compileDetail is the compiler's first complaint; Python's is its last line.
func compileDetail(run sandbox.Result) string {
	switch step := run.Compile; {
	case step == nil:
		return lastLine(run.Stderr, "does not compile")
	case step.Status == sandbox.TimeLimitExceeded:
		return fmt.Sprintf("the compiler was stopped after %.1f s", step.Wall.Seconds())
	default:
		said := string(step.Stderr) + "\n" + string(step.Stdout) // some compilers complain there
		for line := range strings.Lines(said) {
			if strings.Contains(strings.ToLower(line), "error") {
				return cut(strings.TrimSpace(line), 200)
			}
		}
		return lastLine([]byte(said), "does not compile")
	}
}

func runtimeDetail(run sandbox.Result) string {
	how := fmt.Sprintf("exit status %d", run.ExitCode)
	if run.Signal != "" {
		how = "killed by " + run.Signal
	}
	if last := lastLine(run.Stderr, ""); last != "" {
		return last + " (" + how + ")"
	}
	return how
}

// lastLine is the last line of stderr that says something: Python's exception.
func lastLine(stderr []byte, otherwise string) string {
	text := strings.TrimSpace(string(stderr))
	if text == "" {
		return otherwise
	}
	return cut(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]), 200)
}
