package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// conversations is a JSONL file of small sums worked with a tool.
func conversations(t *testing.T, dir string, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		a, c := i%9+1, i*i%7
		fmt.Fprintf(&b, `{"messages": [{"role": "user", "content": "Add %d and %d."}, `, a, c)
		if i%3 > 0 {
			fmt.Fprintf(&b, `{"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "code_interpreter", "arguments": {"code": "print(%d+%d)"}}}]}, {"role": "tool", "content": "%d"}, `, a, c, a+c)
		}
		fmt.Fprintf(&b, "{\"role\": \"assistant\", \"content\": \"```python\\nprint(%d)\\n```\"}]}\n", a+c)
	}
	path := filepath.Join(dir, "conversations.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// tinySFT fine-tunes the tiny model for twelve steps, with checkpoints.
func tinySFT(t *testing.T, out string, more ...string) []string {
	t.Helper()
	args := []string{
		"train", "sft", "--quiet", "--recipe", "toolcall-sft", "--model", tinyModel(t), "--data", "conversations.jsonl", "--out", out, "--keep", "2",
	}
	for _, setting := range []string{
		"batch.size=8", "batch.tokens=400", "optim.lr=1e-2", "train.epochs=3", "train.save_every=2", "train.validate_every=3", "model.dtype=f32",
	} {
		args = append(args, "--set", setting)
	}
	return append(args, more...)
}

func trainTiny(t *testing.T, dir, out string, more ...string) {
	t.Helper()
	if output, err := crCommand(t, dir, tinySFT(t, out, more...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
}

// sameTraining compares all that a training run leaves, but for what depends on
// the clock.
func sameTraining(t *testing.T, a, b string) {
	t.Helper()
	for _, name := range []string{
		"metrics.jsonl", "latest_checkpointed_iteration.txt", "best_checkpointed_iteration.txt",
		"global_step_12/model.safetensors", "global_step_12/optimizer.safetensors", "global_step_12/cr_state.json",
	} {
		first, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Errorf("%s differs after a kill", name)
		}
	}
}

// A training run that is killed at random moments ends with the weights and
// metrics of one that was left alone, full and with adapters.
func TestTrainingKilledAndResumed(t *testing.T) {
	for name, more := range map[string][]string{
		"full": nil,
		"lora": {"--set", "model.lora.rank=4"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			conversations(t, dir, 36)
			began := time.Now()
			trainTiny(t, dir, "alone", more...)
			whole := time.Since(began)

			for killed := 0; killed < killsWanted(t); {
				after := time.Duration(rand.Int64N(int64(whole)))
				if killAfter(t, crCommand(t, dir, tinySFT(t, "killed", append(more, "--resume")...)...), after) {
					killed++
					continue
				}
				// It came to its end between two kills: the next one starts afresh.
				sameTraining(t, filepath.Join(dir, "alone"), filepath.Join(dir, "killed"))
				if err := os.RemoveAll(filepath.Join(dir, "killed")); err != nil {
					t.Fatal(err)
				}
			}
			trainTiny(t, dir, "killed", append(more, "--resume")...)
			sameTraining(t, filepath.Join(dir, "alone"), filepath.Join(dir, "killed"))
		})
	}
}

// Ctrl-C ends a training run with exit code 130, a checkpoint of the last step
// that was done, and the words that go on with it.
func TestTrainingInterrupted(t *testing.T) {
	dir := t.TempDir()
	conversations(t, dir, 36)
	cmd := crCommand(t, dir, tinySFT(t, "run", "--set", "train.save_every=0")...)
	var stdout, stderr bytes.Buffer
	cmd.Stderr, cmd.Stdout = &stderr, &stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForBytes(t, filepath.Join(dir, "run", "metrics.jsonl"))
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Fatalf("%v, want exit code 130: %s", err, stderr.String())
	}
	if last := lastLine(stderr.String()); !strings.HasPrefix(last, "cr: interrupted after step ") || !strings.HasSuffix(last, "(the same command with --resume)") {
		t.Errorf("it said %q", last)
	}
	if saved, err := filepath.Glob(filepath.Join(dir, "run", "global_step_*")); err != nil || len(saved) != 1 {
		t.Errorf("checkpoints %v (%v), want one", saved, err)
	}
	trainTiny(t, dir, "run", "--resume")
	trainTiny(t, dir, "alone")
	sameTraining(t, filepath.Join(dir, "alone"), filepath.Join(dir, "run"))
}

// killAfter starts a command, kills it after a while, and tells whether it was
// still running then.
func killAfter(t *testing.T, cmd *exec.Cmd, after time.Duration) bool {
	t.Helper()
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	_ = cmd.Process.Kill() // it may have ended by itself
	err := cmd.Wait()
	if err == nil {
		return false
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("%v: %s", err, output.String())
	}
	return true
}

// waitForBytes waits until a file holds something.
func waitForBytes(t *testing.T, path string) {
	t.Helper()
	for range 12000 {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("nothing in %s in a minute", path)
}
