package sft

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pyarrow finds in the output what it finds in the source. CR_TEST_PYTHON names a
// Python that has it; python3 is tried without.
func TestInteroperatesWithPyarrow(t *testing.T) {
	python := cmp.Or(os.Getenv("CR_TEST_PYTHON"), "python3")
	if err := exec.CommandContext(t.Context(), python, "-c", "import pyarrow").Run(); err != nil {
		t.Skipf("%s has no pyarrow (CR_TEST_PYTHON names one that does): %v", python, err)
	}
	for _, name := range []string{"text", "object"} {
		in, out := "testdata/"+name+".parquet", filepath.Join(t.TempDir(), "out.parquet")
		if _, err := Filter(t.Context(), []string{in}, out, Options{}); err != nil {
			t.Fatal(err)
		}
		said, err := exec.CommandContext(t.Context(), python, "testdata/readback.py", in, "testdata/"+name+".json", out).CombinedOutput()
		if err != nil || strings.TrimSpace(string(said)) != "OK" {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
	}
}
