package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/coderl/cr/sandbox"
)

// Bounds on answers beyond a program's standard output: what is kept of stderr
// and said around it, and the files that are fetched.
const (
	besideOutput = 8 << 20
	filesOutput  = 96 << 20
)

// answerLimit is the most bytes that an answer may have. A byte of output takes
// six at most, as \u0000.
func answerLimit(job *sandbox.Job) int64 {
	limit := 6*job.Limits.Output + besideOutput
	if len(job.Fetch) > 0 {
		limit += filesOutput
	}
	return limit
}

// waiting is how long to wait for a job's answer.
func (c *Client) waiting(job *sandbox.Job) waiting {
	compile := job.CompileTime
	if compile == 0 && job.Language != "python" {
		compile = time.Minute
	}
	run := max(job.Limits.Wall, 2*job.Limits.CPU, job.Limits.CPU+time.Second)
	return waiting{again: c.patience, each: c.patience + compile + run}
}

// runOwn runs a job at a service of cr's own.
func (c *Client) runOwn(ctx context.Context, job *sandbox.Job) (sandbox.Result, error) {
	if !utf8.ValidString(job.Code) {
		return sandbox.Result{}, errNotText
	}
	data, err := c.post(ctx, "/run_code", ownRequest(job), answerLimit(job), c.waiting(job))
	if err != nil {
		return sandbox.Result{}, err
	}
	return ownResult(data)
}

func ownRequest(job *sandbox.Job) *request {
	r := &request{
		Language: apiName(job.Language), Code: job.Code,
		CompileTimeout: job.CompileTime.Seconds(), RunTimeout: job.Limits.CPU.Seconds(), Memory: megabytes(job.Limits.Memory),
		Files: job.Files, Fetch: job.Fetch,
		Extension: &extension{
			Prelude: job.Prelude, LongInts: job.LongInts, Args: job.Args, Call: newCall(job.Call), Check: newCheck(job.Check),
			WallTimeout: job.Limits.Wall.Seconds(), OutputLimit: job.Limits.Output,
			Processes: job.Limits.Processes, AddressSpace: job.Limits.AddressSpace,
		},
	}
	if utf8.Valid(job.Stdin) {
		r.Stdin = string(job.Stdin)
	} else {
		r.Extension.Stdin = job.Stdin
	}
	return r
}

// megabytes rounds up: limits are written in MB.
func megabytes(n int64) int64 { return (n + 1<<20 - 1) >> 20 }

func ownResult(data []byte) (sandbox.Result, error) {
	a, err := parseAnswer(data)
	if err != nil {
		return sandbox.Result{}, err
	}
	x := a.Extension
	if x == nil {
		return sandbox.Result{}, fmt.Errorf("%w: it lacks the member cr", errAnswer)
	}
	r := sandbox.Result{
		Status: x.Status, ExitCode: x.ExitCode, Signal: x.Signal,
		CPU: seconds(x.CPU), Memory: x.Memory, Check: x.Check, Files: a.Files,
	}
	switch x.Status {
	case sandbox.OK, sandbox.TimeLimitExceeded, sandbox.MemoryLimitExceeded,
		sandbox.OutputLimitExceeded, sandbox.RuntimeError, sandbox.CompileError:
	default:
		return sandbox.Result{}, fmt.Errorf("%w: unknown status %.40q", errAnswer, x.Status)
	}
	if x.Value != nil {
		r.Value = json.RawMessage(*x.Value)
	}
	if a.RunResult == nil && x.Status != sandbox.CompileError {
		return r, fmt.Errorf("%w: it has no run_result", errAnswer)
	}
	if run := a.RunResult; run != nil {
		r.Stdout, r.Stderr, r.Wall = []byte(run.Stdout), []byte(run.Stderr), seconds(run.ExecutionTime)
	}
	if x.Stdout != nil {
		r.Stdout = x.Stdout
	}
	r.Compile = a.CompileResult.step(x.Status == sandbox.CompileError)
	return r, nil
}

// step describes a compilation; failed says that there is no program.
func (c *command) step(failed bool) *sandbox.Step {
	if c == nil {
		return nil
	}
	s := &sandbox.Step{Status: sandbox.OK, Stdout: []byte(c.Stdout), Stderr: []byte(c.Stderr), Wall: seconds(c.ExecutionTime)}
	if c.ReturnCode != nil {
		s.ExitCode = *c.ReturnCode
	}
	switch {
	case c.Status == timedOut:
		s.Status = sandbox.TimeLimitExceeded
	case failed:
		s.Status = sandbox.CompileError
	}
	return s
}
