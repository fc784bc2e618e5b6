package datasets

import (
	"errors"
	"os"
	"testing"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

func TestMain(m *testing.M) {
	sandbox.MaybeRunStub()
	os.Exit(m.Run())
}

// openJudge starts a judge in the local sandbox, or skips where the host cannot
// isolate.
func openJudge(t *testing.T) *judge.Judge {
	t.Helper()
	local, err := sandbox.NewLocal(sandbox.LocalOptions{})
	if errors.Is(err, sandbox.ErrNoIsolation) {
		t.Skipf("this host cannot isolate programs: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := local.Close(); err != nil {
			t.Errorf("close the sandbox: %v", err)
		}
	})
	return judge.New(local)
}

func taskOf(p Problem, mode judge.Mode) judge.Task {
	return judge.Task{ID: p.ID, Method: p.Method, Tests: p.Tests, Mode: mode, Checker: p.Checker, Limits: p.Limits}
}

// outsideData is the folder of data that is never part of this repository.
func outsideData(t *testing.T) string {
	t.Helper()
	data := os.Getenv("CR_TEST_DATA")
	if data == "" {
		t.Skip("CR_TEST_DATA is not set: LiveCodeBench's problems are outside data")
	}
	return data
}
