package selftest_test

import (
	"errors"
	"os"
	"testing"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/selftest"
)

func TestMain(m *testing.M) {
	sandbox.MaybeRunStub()
	os.Exit(m.Run())
}

// TestThisHostHolds runs the whole table, as `cr sandbox check` does.
func TestThisHostHolds(t *testing.T) {
	exec, err := sandbox.NewLocal(sandbox.LocalOptions{Workers: 1})
	if errors.Is(err, sandbox.ErrNoIsolation) {
		t.Skipf("this host cannot isolate programs: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Close()
	seen := map[int]bool{}
	err = selftest.RunAll(t.Context(), exec, 100, func(o selftest.Outcome) {
		seen[o.Number] = true
		if !o.OK {
			t.Errorf("row %d, %s: %s", o.Number, o.Name, o.Found)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 33 {
		if !seen[n+1] {
			t.Errorf("row %d is missing", n+1)
		}
	}
}
