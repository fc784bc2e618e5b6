package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// kills is how often a test kills; CR_TEST_KILLS overrides it.
const kills = 3

// A run that is killed at random moments, over and over, ends with the bytes of
// one that was left alone.
func TestKilledAndResumed(t *testing.T) {
	dir := t.TempDir()
	left := time.Now()
	evaluate(t, dir, "alone")
	whole := time.Since(left)

	for killed := 0; killed < killsWanted(t); {
		if killAfter(t, crCommand(t, dir, tinyEval(t, "killed", "--resume")...), time.Duration(rand.Int64N(int64(whole)))) {
			killed++
			continue
		}
		// It came to its end between two kills: the next one starts afresh.
		sameRuns(t, filepath.Join(dir, "alone"), filepath.Join(dir, "killed"))
		if err := os.RemoveAll(filepath.Join(dir, "killed")); err != nil {
			t.Fatal(err)
		}
	}
	evaluate(t, dir, "killed", "--resume")
	sameRuns(t, filepath.Join(dir, "alone"), filepath.Join(dir, "killed"))
}

// killsWanted is how often a test kills.
func killsWanted(t *testing.T) int {
	t.Helper()
	n, text := kills, os.Getenv("CR_TEST_KILLS")
	if text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// Ctrl-C ends a run with exit code 130 and the words that go on with it.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	cmd := crCommand(t, dir, tinyEval(t, "run")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForBytes(t, filepath.Join(dir, "run", "journal.jsonl"))
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Fatalf("%v, want exit code 130: %s", err, stderr.String())
	}
	if last := lastLine(stderr.String()); !bytes.HasPrefix([]byte(last), []byte("cr: interrupted with ")) ||
		!bytes.HasSuffix([]byte(last), []byte("(--resume --out run)")) {
		t.Errorf("it said %q", last)
	}
	if _, err := os.Stat(filepath.Join(dir, "run", "results.json")); err == nil {
		t.Error("there are results of a run that did not end")
	}
	evaluate(t, dir, "run", "--resume")
	evaluate(t, dir, "alone")
	sameRuns(t, filepath.Join(dir, "alone"), filepath.Join(dir, "run"))
}

// tinyEval is an eval of the tiny model, long enough to be interrupted.
func tinyEval(t *testing.T, out string, more ...string) []string {
	t.Helper()
	return append([]string{
		"eval", "livecodebench", "--quiet", "--model", tinyModel(t), "--data", "bundled",
		"--limit", "8", "--n", "4", "--max-tokens", "300", "--out", out,
	}, more...)
}

func tinyModel(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("testdata/tiny")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func evaluate(t *testing.T, dir, out string, more ...string) {
	t.Helper()
	if output, err := crCommand(t, dir, tinyEval(t, out, more...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
}

// sameRuns compares what must not depend on how a run came about.
func sameRuns(t *testing.T, a, b string) {
	t.Helper()
	for _, name := range []string{"samples.jsonl", "results.json"} {
		first, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Errorf("%s differs: %s", name, firstDifference(first, second))
		}
	}
}

// firstDifference shows the surroundings of the first byte that differs.
func firstDifference(a, b []byte) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	show := func(x []byte) string { return string(x[max(0, at-60):min(len(x), at+60)]) }
	return show(a) + " ≠ " + show(b)
}
