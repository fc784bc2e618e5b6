package reward

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Exit statuses of sysexits.h and the shell.
const (
	tempFail   = 75  // EX_TEMPFAIL: try again later
	bySignal   = 128 // and a signal's number: how a shell says that its command was killed
	lastSignal = 64
)

// program is an executable: the request on its stdin, the reply on its stdout.
// Exit status 75 asks to be tried again, a crash may be; another status but 0
// breaks the protocol.
type program struct {
	path  string
	limit time.Duration
}

func (p program) call(ctx context.Context, request []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.limit, fmt.Errorf("no reply within %s", p.limit))
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path)
	var out, errs bounded
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(request), &out, &errs
	cmd.WaitDelay = time.Second
	alone(cmd)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil && out.full:
		return nil, fmt.Errorf("%w: a reply of more than %d bytes", ErrBroken, maxReply)
	case err == nil, errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil: // a child of it may hold its output open
		return out.kept, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &exit):
		return nil, endedBadly(exit, errs.kept)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, exec.ErrNotFound), errors.Is(err, syscall.ENOEXEC):
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return nil, err // too many processes, too little memory, a file that is being written
}

// endedBadly is what an exit status other than 0 means.
func endedBadly(exit *exec.ExitError, said []byte) error {
	code := exit.ExitCode()
	words := exit.Error()
	if line := lastLine(said); line != "" {
		words += ": " + line
	}
	switch {
	case code == tempFail:
		return errors.New(words)
	case code < 0, code > bySignal && code <= bySignal+lastSignal: // a signal, its own or a child's that a shell tells of
		return fmt.Errorf("%w: %s", errCrash, words)
	}
	return fmt.Errorf("%w: %s", ErrBroken, words)
}

// bounded keeps the beginning of what is written.
type bounded struct {
	kept []byte
	full bool
}

// Write implements [io.Writer]; it takes everything and keeps what fits.
func (b *bounded) Write(p []byte) (int, error) {
	room := maxReply - len(b.kept)
	b.full = b.full || len(p) > room
	b.kept = append(b.kept, p[:min(len(p), room)]...)
	return len(p), nil
}

// lastLine is the end of what a program or service said, which mostly names the
// cause.
func lastLine(text []byte) string {
	const most = 300
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(text), "")), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if len(last) > most {
		last = strings.ToValidUTF8(last[:most], "") + "…"
	}
	return last
}
