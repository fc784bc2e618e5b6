package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/coderl/cr/eval"
	"github.com/coderl/cr/recipes/sft"
	"github.com/coderl/cr/runtime"
	"github.com/coderl/cr/runtime/weights"
)

// The exit codes; scripts rely on them.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitGate        = 3
	exitInfra       = 4
	exitInterrupted = 130
)

// usageError is a wrong flag or an input file that is not what it should be.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// badInput marks err, when there is one, as the input's fault.
func badInput(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

// Errors that end a command which otherwise did its work.
var (
	errGate  = errors.New("the gate did not pass")
	errInfra = errors.New("some samples could not be judged (infra_error); fix the cause and run again with --resume, or pass --allow-infra")
)

// exitCode is the one table from errors to exit codes.
func exitCode(err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return exitDone
	case keepsWork(err), errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, errGate):
		return exitGate
	case errors.Is(err, errInfra):
		return exitInfra
	case errors.As(err, &usage), errors.Is(err, weights.ErrBadCheckpoint), errors.Is(err, runtime.ErrNotFinite):
		return exitUsage
	default:
		return exitFailed
	}
}

// keepsWork tells whether an interrupted command left something to go on with,
// which its error then tells of.
func keepsWork(err error) bool {
	return errors.Is(err, eval.ErrInterrupted) || errors.Is(err, sft.ErrInterrupted)
}

// report prints an error's one line and returns its exit code.
func report(stderr io.Writer, err error) int {
	code := exitCode(err)
	switch {
	case code == exitDone, code == exitGate:
	case code == exitInterrupted && !keepsWork(err):
		fmt.Fprintln(stderr, "cr: interrupted")
	default:
		fmt.Fprintln(stderr, "cr:", oneLine(err))
	}
	return code
}

// oneLine is an error's text with the lines of joined errors side by side.
func oneLine(err error) string {
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
}
