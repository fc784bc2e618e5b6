package rl

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A fresh source of thousands of rows, judged by Python and by this package, and
// read back by pyarrow. CR_TEST_PYTHON names a Python that has pyarrow, pandas and
// numpy; python3 is tried without.
func TestInteroperatesWithPython(t *testing.T) {
	python := cmp.Or(os.Getenv("CR_TEST_PYTHON"), "python3")
	if err := exec.CommandContext(t.Context(), python, "-c", "import pyarrow, pandas, numpy").Run(); err != nil {
		t.Skipf("%s has no pyarrow, pandas and numpy (CR_TEST_PYTHON names one that does): %v", python, err)
	}
	rows := "1500"
	if !testing.Short() {
		rows = "4000"
	}
	dir := t.TempDir()
	in, train, validation := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "train.jsonl"), filepath.Join(dir, "validation.jsonl")
	runPython(t, python, "source.py", rows, in, "2024", "40")
	runPython(t, python, "golden.py", in, train, validation)
	if _, err := Build(t.Context(), []string{in}, dir+"/out", Defaults()); err != nil {
		t.Fatal(err)
	}
	if out := runPython(t, python, "readback.py", dir+"/out", train, validation); strings.TrimSpace(out) != "OK" {
		t.Error(out)
	}
}

func runPython(t *testing.T, python, script string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python, append([]string{"-W", "ignore", "testdata/" + script}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}
