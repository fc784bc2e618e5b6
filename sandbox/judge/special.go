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

// special runs a special judge in a jail of its own with three files. Exit 0 accepts, another status rejects; a special judge
// that dies otherwise is our fault, not the program's.
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
	if !rejected(run) && !(checker.Form == ByName && run.Status == sandbox.RuntimeError) {
		_, detail := outcome(run)
		return "", fmt.Errorf("special judge failed: %s: %s", run.Status, detail)
	}
	if said := lastLine(append(run.Stdout, run.Stderr...), ""); said != "" {
		return "special judge: " + said, nil
	}
	return fmt.Sprintf("special judge says no (exit status %d)", run.ExitCode), nil
}

// rejected tells a verdict from a crash: Python exits 1 for both, but prints a
// traceback only for the latter.
func rejected(run sandbox.Result) bool {
	return run.Status == sandbox.RuntimeError && run.ExitCode > 0 && run.Signal == "" &&
		!bytes.Contains(run.Stderr, []byte(traceback))
}
