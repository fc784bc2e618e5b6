package main

import (
	"cmp"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The real huggingface_hub reads cr's hub and cr's cache, and cr reads its.
// CR_TEST_PYTHON names a Python that has it; python3 is tried without.
func TestInteroperatesWithHuggingfaceHub(t *testing.T) {
	python := cmp.Or(os.Getenv("CR_TEST_PYTHON"), "python3")
	if err := exec.Command(python, "-c", "import huggingface_hub").Run(); err != nil {
		t.Skipf("%s has no huggingface_hub (CR_TEST_PYTHON names one that does): %v", python, err)
	}
	cr, err := exec.LookPath("cr")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), python, "testdata/interop.py", cr, dir)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "HF_ENDPOINT=" + hubServer(t),
		"HF_HUB_DISABLE_PROGRESS_BARS=1", "HF_HUB_DISABLE_TELEMETRY=1", "HF_HUB_DISABLE_UPDATE_CHECK=1",
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "OK") {
		t.Fatalf("%v:\n%s", err, out)
	}
}
