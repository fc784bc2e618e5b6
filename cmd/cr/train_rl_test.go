package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// tinyRL reinforces the tiny model for three steps, by a reward that takes its
// time and leaves a mark of each answer.
func tinyRL(t *testing.T, dir, out string, more ...string) []string {
	t.Helper()
	script := "#!/bin/sh\nn=$(wc -c)\necho $n >> asked\nsleep 0.2\necho \"{\\\"score\\\": $(($n % 2))}\"\n"
	if err := os.WriteFile(filepath.Join(dir, "reward.sh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	args := []string{"train", "rl", "--quiet", "--unsafe", "--recipe", "tiny-rl", "--model", tinyModel(t), "--data", "bundled", "--out", out}
	for _, setting := range []string{
		"data.validation=bundled", "validate.every=2", "validate.n=1", "data.max_prompt=2000", "reward.own=./reward.sh", "grpo.uniform=keep",
		"rollout.prompts=2", "rollout.group=2", "rollout.max_response=8", "batch.mini=1", "train.steps=3", "train.save_every=0",
	} {
		args = append(args, "--set", setting)
	}
	return append(args, more...)
}

// Ctrl-C and SIGTERM end a run with exit code 130 and one line, before its first
// step, in its validation and among its answers; it goes on to the same end.
func TestReinforcementInterrupted(t *testing.T) {
	dir := t.TempDir()
	if output, err := crCommand(t, dir, tinyRL(t, dir, "alone")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for name, c := range map[string]struct {
		signal os.Signal
		after  string // a file that is written when the moment has come
		says   string
	}{
		"at the start":         {syscall.SIGTERM, "run.lock", "cr: interrupted"},
		"in the validation":    {os.Interrupt, "eval/global_step_0/journal.jsonl", "cr: interrupted before the first step was done; "},
		"among the first":      {syscall.SIGTERM, "../asked", "cr: interrupted before the first step was done; "},
		"in the second update": {os.Interrupt, "rollouts/2.jsonl", "cr: interrupted after step "},
	} {
		_ = os.Remove(filepath.Join(dir, "asked")) // the last run's
		out := strings.ReplaceAll(name, " ", "-")
		cmd := crCommand(t, dir, tinyRL(t, dir, out)...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitForBytes(t, filepath.Join(dir, out, c.after))
		if err := cmd.Process.Signal(c.signal); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
			t.Errorf("%s: %v, want exit code 130: %s", name, err, stderr.String())
		}
		if said := strings.TrimSpace(stderr.String()); !strings.HasPrefix(said, c.says) || strings.Contains(said, "\n") {
			t.Errorf("%s: it said %q", name, said)
		}
		if output, err := crCommand(t, dir, tinyRL(t, dir, out, "--resume")...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, output)
		}
		for _, file := range []string{"metrics.jsonl", "rollouts/3.jsonl", "global_step_3/model.safetensors", "global_step_3/optimizer.safetensors", "eval/global_step_2/samples.jsonl"} {
			got, err := os.ReadFile(filepath.Join(dir, out, file))
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join(dir, "alone", file))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: %s differs from the undisturbed run's", name, file)
			}
		}
	}
}
