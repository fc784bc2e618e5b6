package sandbox_test

import (
	"testing"

	"github.com/coderl/cr/sandbox"
)

// TestUnflushedOutputIsWritten holds programs to what python3 prints for them
// when it destroys their streams at its end.
func TestUnflushedOutputIsWritten(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 1})
	for _, tt := range []struct{ name, code, want string }{
		{"stdout in another's place", py(`import sys, io`, `sys.stdout = io.StringIO()`, `print(42)`, `sys.__stdout__.write("lost")`), "lost"},
		{"a file over descriptor 1", py(`f = open(1, "w", closefd=False)`, `f.write("kept")`), "kept"},
		{"a wrapper of the buffer", py(`import io, sys`, `w = io.TextIOWrapper(sys.stdout.buffer)`, `w.write("wrapped")`), "wrapped"},
		{"order", py(`import sys`, `print("first")`, `f = open(1, "w", closefd=False)`, `f.write("second\n")`), "first\nsecond\n"},
		{"closed", py(`import sys`, `print(7)`, `sys.stdout.flush()`, `sys.stdout.close()`), "7\n"},
	} {
		if r := run(t, l, sandbox.Job{Code: tt.code}); r.Status != sandbox.OK || string(r.Stdout) != tt.want {
			t.Errorf("%s: %s, got %q %q, want %q", tt.name, r.Status, r.Stdout, r.Stderr, tt.want)
		}
	}
}
