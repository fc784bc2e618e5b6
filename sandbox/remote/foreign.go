package remote

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/coderl/cr/sandbox"
)

//go:embed driver.py
var driver string

// compileTime is what other services' compilers get; ten seconds, their default,
// is too little for C++ on a busy machine.
const compileTime = 30 * time.Second

// Errors of jobs that other services cannot do.
var (
	errChecks = fmt.Errorf("%w: test code is judged in a process apart from the program, which needs a service of cr's own (cr sandbox serve)", ErrUnfit)
	errArgs   = fmt.Errorf("%w: programs with command-line arguments in other languages than Python need a service of cr's own (cr sandbox serve)", ErrUnfit)
	errStdin  = fmt.Errorf("%w: input that is no UTF-8 text needs a service of cr's own (cr sandbox serve)", ErrUnfit)
)

// runForeign runs a job at a service that is not cr's own.
func (c *Client) runForeign(ctx context.Context, job *sandbox.Job) (sandbox.Result, error) {
	if err := refused(job); err != nil {
		return sandbox.Result{}, err
	}
	r := foreignRequest(job)
	nonce := rand.Text()
	if job.Language == "python" && (job.Prelude || job.LongInts || job.Call != nil || len(job.Args) > 0) {
		if err := drive(r, job, nonce); err != nil {
			return sandbox.Result{}, err
		}
	}
	data, err := c.post(ctx, "/run_code", r, answerLimit(job), c.waiting(job))
	if errors.Is(err, errTooLong) {
		// Nothing but the program's output makes an answer so long.
		return sandbox.Result{Status: sandbox.OutputLimitExceeded}, nil
	}
	if err != nil {
		return sandbox.Result{}, err
	}
	result, err := foreignResult(data, job)
	if err != nil || job.Call == nil {
		return result, err
	}
	return result, unframe(&result, nonce)
}

// refused says why a job is beyond a service that knows only ScaleBox's API.
func refused(job *sandbox.Job) error {
	switch {
	case job.Check != nil:
		return errChecks
	case len(job.Args) > 0 && job.Language != "python":
		return errArgs
	case !utf8.Valid(job.Stdin):
		return errStdin
	case !utf8.ValidString(job.Code):
		return errNotText
	}
	return nil
}

func foreignRequest(job *sandbox.Job) *request {
	r := &request{
		Language: apiName(job.Language), Code: job.Code, Stdin: string(job.Stdin),
		CompileTimeout: job.CompileTime.Seconds(), RunTimeout: job.Limits.CPU.Seconds(),
		Memory: megabytes(job.Limits.Memory), Files: job.Files, Fetch: job.Fetch,
	}
	if job.CompileTime <= 0 {
		r.CompileTimeout = compileTime.Seconds()
	}
	return r
}

// drive puts the driver program around a job's program. A call goes the way of
// standard input, where the program cannot read the nonce any more.
func drive(r *request, job *sandbox.Job, nonce string) error {
	source, err := literal(job.Code)
	if err != nil {
		return err
	}
	args, err := literal(append([]string{}, job.Args...))
	if err != nil {
		return err
	}
	r.Code = fmt.Sprintf("%s\n\nstart(%s, %s, %s, %s, %s)\n", driver, source, args,
		truth(job.Prelude), truth(job.LongInts), truth(job.Call != nil))
	if job.Call == nil {
		return nil
	}
	target := newCall(job.Call)
	target.Nonce = nonce
	line, err := literal(target)
	r.Stdin = line + "\n"
	return err
}

// literal writes strings, and lists of them, so that JSON and Python read the
// same.
func literal(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("write program: %w", err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

func truth(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// unframe takes the value of a call out of the standard output, where the driver
// wrote it on a line behind the nonce.
func unframe(r *sandbox.Result, nonce string) error {
	before, after, found := bytes.Cut(r.Stdout, []byte("\n"+nonce))
	if !found {
		if r.Status == sandbox.OK {
			r.Status = sandbox.RuntimeError // it ended before the call did
		}
		return nil
	}
	frame, rest, whole := bytes.Cut(after, []byte("\n"))
	r.Stdout = append(bytes.Clone(before), rest...)
	kind, body := byte(0), frame
	if len(frame) > 0 {
		kind, body = frame[0], frame[1:]
	}
	switch {
	case kind == 'i':
		return fmt.Errorf("a call's argument is not JSON: %s", short(string(body)))
	case r.Status == sandbox.OK && kind == 'v' && whole:
		r.Value = json.RawMessage(body)
	case r.Status == sandbox.OK:
		r.Status = sandbox.RuntimeError
	}
	return nil
}
