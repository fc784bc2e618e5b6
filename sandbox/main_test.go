package sandbox_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.MaybeRunStub()
	if os.Getenv(victimEnv) != "" {
		victim()
	}
	os.Exit(m.Run())
}

// open starts a sandbox for one test, or skips where the host cannot isolate.
func open(t testing.TB, opts sandbox.LocalOptions) *sandbox.Local {
	t.Helper()
	l, err := sandbox.NewLocal(opts)
	if errors.Is(err, sandbox.ErrNoIsolation) {
		t.Skipf("this host cannot isolate programs: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return l
}

// run runs a job that must not fail for reasons of ours.
func run(t testing.TB, l *sandbox.Local, job sandbox.Job) sandbox.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if job.Language == "" {
		job.Language = "python"
	}
	r, err := l.Run(ctx, job)
	if err != nil {
		t.Fatalf("the sandbox failed: %v", err)
	}
	return r
}

// py joins lines of a program.
func py(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
