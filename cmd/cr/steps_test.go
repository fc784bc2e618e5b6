package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// trainingRun is a folder with two checkpoints, both the tiny model.
func trainingRun(t *testing.T, dir string) string {
	t.Helper()
	for _, step := range []string{"global_step_5", "global_step_10"} {
		if err := os.CopyFS(filepath.Join(dir, "training", step), os.DirFS(tinyModel(t))); err != nil {
			t.Fatal(err)
		}
	}
	return "training"
}

// stepsEval evaluates a training run and its baseline, long enough to be killed.
func stepsEval(t *testing.T, run, out string, more ...string) []string {
	t.Helper()
	return append([]string{
		"eval", "livecodebench", "--quiet", "--model", run, "--baseline", tinyModel(t), "--data", "bundled",
		"--limit", "4", "--n", "3", "--max-tokens", "200", "--out", out,
	}, more...)
}

// sameSteps compares all files that must not depend on how they came about, and
// checks that no sample was made twice.
func sameSteps(t *testing.T, a, b string) {
	t.Helper()
	for _, step := range []string{"step_0", "step_5", "step_10"} {
		sameRuns(t, filepath.Join(a, step), filepath.Join(b, step))
		journal, err := os.ReadFile(filepath.Join(b, step, "journal.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(journal, []byte("\n")); n != 12 {
			t.Errorf("%s: %d samples were made, want 12", step, n)
		}
	}
	for _, name := range []string{"steps.json", "steps.csv", "steps.md", "steps.svg", "steps.png"} {
		first, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Errorf("%s differs", name)
		}
	}
}

// The evaluation of a training run that is killed at random moments ends with the
// bytes of one that was left alone.
func TestStepsKilledAndResumed(t *testing.T) {
	dir := t.TempDir()
	run := trainingRun(t, dir)
	began := time.Now()
	if output, err := crCommand(t, dir, stepsEval(t, run, "alone")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	whole := time.Since(began)
	for killed := 0; killed < killsWanted(t); {
		if killAfter(t, crCommand(t, dir, stepsEval(t, run, "killed", "--resume")...), time.Duration(rand.Int64N(int64(whole)))) {
			killed++
			continue
		}
		// It came to its end between two kills: the next one starts afresh.
		sameSteps(t, filepath.Join(dir, "alone"), filepath.Join(dir, "killed"))
		if err := os.RemoveAll(filepath.Join(dir, "killed")); err != nil {
			t.Fatal(err)
		}
	}
	if output, err := crCommand(t, dir, stepsEval(t, run, "killed", "--resume")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	sameSteps(t, filepath.Join(dir, "alone"), filepath.Join(dir, "killed"))
}

// Ctrl-C names the folder of the whole series, not that of the step at work.
func TestStepsInterrupted(t *testing.T) {
	dir := t.TempDir()
	cmd := crCommand(t, dir, stepsEval(t, trainingRun(t, dir), "out")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForBytes(t, filepath.Join(dir, "out", "step_5", "journal.jsonl"))
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Fatalf("%v, want exit code 130: %s", err, stderr.String())
	}
	if last := lastLine(stderr.String()); !strings.Contains(last, "interrupted with ") || !strings.HasSuffix(last, "(--resume --out out)") {
		t.Errorf("it said %q", last)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "steps.json")); err == nil {
		t.Error("there is a table of a series that did not end")
	}
}

func TestListedSteps(t *testing.T) {
	var steps []int
	for n := 20; n <= 240; n += 20 {
		steps = append(steps, n)
	}
	if got := listed(steps); got != "20, 40, 60, 80, 100, 120, …, 240" {
		t.Errorf("twelve steps are listed as %s", got)
	}
	if got := listed(steps[:8]); got != "20, 40, 60, 80, 100, 120, 140, 160" {
		t.Errorf("eight steps are listed as %s", got)
	}
}
