package judge

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/coderl/cr/sandbox"
)

// specialCPU bounds a special judge, which reads what the program wrote.
const specialCPU = 10 * time.Second

// special runs a special judge in a jail of its own with three files. It returns
// why the judge says no, "" for yes. A judge that does not compile, runs too long
// or dies is our fault, not the program's.
func (j *Judge) special(ctx context.Context, checker Checker, test Test, answer string) (string, error) {
	job := sandbox.Job{
		Language: checker.Language,
		Code:     checker.Code,
		Args:     []string{"input", "output", "expected"},
		Limits:   sandbox.Limits{CPU: specialCPU},
	}
	names := job.Args
	if checker.Form == ByName {
		job.Args, names = nil, []string{"stdin.txt", "answer.txt", "stdout.txt"}
	}
	job.Files = map[string][]byte{
		names[0]: []byte(test.Input), names[1]: []byte(answer), names[2]: []byte(test.Output),
	}
	if job.Language == "" {
		job.Language = "python"
	}
	run, err := j.exec.Run(ctx, job)
	if err != nil {
		return "", fmt.Errorf("special judge: %w", err)
	}
	if run.Status == sandbox.OK {
		return "", nil
	}
	how, no := refusal(run, checker.Form)
	if !no {
		_, detail := outcome(run)
		return "", fmt.Errorf("special judge failed: %s: %s", run.Status, detail)
	}
	if said := lastLine(append(run.Stdout, run.Stderr...), ""); said != "" {
		how = said
	}
	return "special judge: " + how, nil
}

// testlibSays are the exit statuses by which testlib's judges refuse an answer.
// Points are no full acceptance.
var testlibSays = map[int]string{
	1: "wrong answer", 2: "wrong format", 4: "something after the answer", 7: "points", 8: "unexpected end of file",
}

// testlibPartial is the first exit status of a partly right answer.
const testlibPartial = 50

// refusal says how a judge that did not accept refused, or that it did not judge.
func refusal(run sandbox.Result, form Form) (how string, refused bool) {
	switch {
	case form == ByName && run.Status == sandbox.RuntimeError:
		return fmt.Sprintf("exit status %d", run.ExitCode), true
	case run.Status != sandbox.RuntimeError || run.Signal != "" || crashed(run):
		return "", false
	case form != Testlib:
		return fmt.Sprintf("exit status %d", run.ExitCode), true
	case run.ExitCode >= testlibPartial:
		return "partly right", true
	}
	how, refused = testlibSays[run.ExitCode]
	return how, refused
}

// crashed tells a crash of a Python judge from its verdict: Python exits 1 for
// both, but prints a traceback only for the former.
func crashed(run sandbox.Result) bool { return bytes.Contains(run.Stderr, []byte(traceback)) }
