package grpo

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/eval"
	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/sandbox"
)

// What nobody judged has no figure that could be read as nought: not the share of
// tests passed where a reward of one's own takes their place, nor the losses of a
// step without an update.
func TestNoFigureOfWhatWasNotMeasured(t *testing.T) {
	one := &sample{spans: nil}
	one.score.Code = 1
	keys := func(byOwn bool, all ...*sample) map[string]float64 {
		found := map[string]float64{}
		for _, f := range rewards(round{samples: all, worth: []float64{1}}, byOwn) {
			found[f.Key] = float64(f.Value)
		}
		return found
	}
	if acc, ok := keys(true, one)["reward/acc"]; ok {
		t.Errorf("with a reward of one's own reward/acc is %v", acc)
	}
	failed := &sample{failure: errors.New("away"), fate: dropped}
	for _, key := range []string{"reward/acc", "reward/code_score"} {
		if v := keys(false, failed)[key]; !math.IsNaN(v) {
			t.Errorf("%s of answers that nobody judged is %v", key, v)
		}
	}
	solved, wrong := &sample{}, &sample{}
	solved.score.Verdict, wrong.score.Verdict = sandbox.AC, sandbox.WA
	if acc := keys(false, solved, wrong, failed)["reward/acc"]; acc != 0.5 {
		t.Errorf("one of two that were judged passes: reward/acc %v", acc)
	}
	var none updated
	none.finish()
	if d := driftOf(nil); !math.IsNaN(none.pg) || !math.IsNaN(none.gradNorm) || !math.IsNaN(d.mean) || d.tokens != 0 {
		t.Errorf("a step without an update has the loss %v, the norm %v and the drift %+v", none.pg, none.gradNorm, d)
	}
	for _, f := range validationFigures("set", 2, eval.Results{Samples: 4}) {
		if strings.Contains(f.Key, "acc/") && !math.IsNaN(float64(f.Value)) {
			t.Errorf("%s of a validation that nobody judged is %v", f.Key, f.Value)
		}
	}
}

// Steps that have nothing to learn from say so, change no weight, and after some
// of them in a row say what to do; a resumed run goes on counting.
func TestStepsWithNothingToLearnFrom(t *testing.T) {
	same := hashReward(t, func(w http.ResponseWriter) bool { fmt.Fprint(w, `{"score": 1}`); return true })
	s := setup{Model: newModel(t), Out: filepath.Join(t.TempDir(), "run"), Settings: []string{
		"reward.own=" + same, "grpo.uniform=drop", "train.steps=6", "rollout.prompts=2", "rollout.max_response=4", "optim.weight_decay=0.1",
	}}
	var notes []string
	for _, until := range []int{4, 0} {
		c, err := s.config()
		check(t, err)
		c.Steps, c.Resume = until, true
		c.Note = func(line string) { notes = append(notes, line) }
		_, err = Run(t.Context(), c)
		check(t, err)
	}
	text := strings.Join(notes, "\n")
	if n := strings.Count(text, "nothing to learn from: "); n != 6 {
		t.Errorf("%d of 6 steps tell of it: %s", n, text)
	}
	if strings.Count(text, "5 steps in a row") != 1 || !strings.Contains(text, "rollout.group") {
		t.Errorf("no advice after 5 steps: %s", text)
	}
	before := read(t, filepath.Join(s.Model, "model.safetensors"))
	if after := read(t, filepath.Join(s.Out, "global_step_6", "model.safetensors")); string(after) != string(before) {
		t.Error("weights moved, by decay or momentum, in steps without an update")
	}
}

// A run whose answers nobody judges any more ends, its steps saved, instead of
// practising for nothing; when the judge is back, it goes on to the same end.
func TestRunThatNobodyJudges(t *testing.T) {
	model := newModel(t)
	var down atomic.Bool
	url := hashReward(t, func(w http.ResponseWriter) bool {
		if down.Load() {
			http.Error(w, "busy", http.StatusServiceUnavailable)
		}
		return down.Load()
	})
	s := setup{Model: model, Settings: []string{"reward.own=" + url, "reward.wait=0", "train.steps=3", "train.save_every=0"}}
	whole := s
	whole.Out = filepath.Join(t.TempDir(), "whole")
	runOf(t, whole)

	s.Out = filepath.Join(t.TempDir(), "run")
	c, err := s.config()
	check(t, err)
	c.Progress = func(p Progress) {
		if p.Step == 2 {
			down.Store(true)
		}
	}
	_, err = Run(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "none of 12 answers") || !strings.Contains(err.Error(), "503") || !strings.Contains(err.Error(), "step 2 is saved") {
		t.Fatalf("nobody judges: %v", err)
	}
	down.Store(false)
	c.Progress, c.Resume = nil, true
	_, err = Run(t.Context(), c)
	check(t, err)
	for _, name := range []string{"metrics.jsonl", "rollouts/3.jsonl", "global_step_3/model.safetensors", "global_step_3/optimizer.safetensors"} {
		if string(read(t, filepath.Join(s.Out, name))) != string(read(t, filepath.Join(whole.Out, name))) {
			t.Errorf("%s differs from the undisturbed run's", name)
		}
	}
}

// The times of an answer are its writing and its tool calls, without one another;
// those of a step are told as verl tells them, with its slowest answer.
func TestAgentTimes(t *testing.T) {
	fast := &sample{writing: 2 * time.Second, calling: 3 * time.Second}
	slow := &sample{writing: 4 * time.Second, calling: 2 * time.Second}
	slow.episode.PromptTokens, slow.episode.CompletionTokens, slow.episode.ReplyTokens = 7, 5, 4
	found := map[string]float64{}
	for _, m := range agentTimes([]*sample{fast, slow}) {
		found[strings.TrimPrefix(m.Key, "timing_s/agent_loop/")] = m.Value
	}
	for key, want := range map[string]float64{
		"generate_sequences/min": 2, "generate_sequences/max": 4, "generate_sequences/mean": 3,
		"tool_calls/min": 2, "tool_calls/max": 3, "tool_calls/mean": 2.5,
		"slowest/generate_sequences": 4, "slowest/tool_calls": 2, "slowest/prompt_length": 7, "slowest/response_length": 9,
	} {
		if v, ok := found[key]; !ok || v != want {
			t.Errorf("%s is %v, want %v", key, v, want)
		}
	}
	if all := agentTimes(nil); len(all) != 6 {
		t.Errorf("a step without answers has %v", all)
	}
}

// Check finds what Run would fail on, and leaves no trace.
func TestCheck(t *testing.T) {
	s := setup{Model: newModel(t), Out: filepath.Join(t.TempDir(), "run"), Settings: []string{"train.steps=1", "rollout.max_response=2"}}
	c, err := s.config()
	check(t, err)
	verdict := func() error {
		_, err := Check(t.Context(), c)
		return err
	}
	check(t, verdict())
	if _, err := os.Stat(s.Out); !os.IsNotExist(err) {
		t.Errorf("it made the run folder: %v", err)
	}
	_, err = Run(t.Context(), c)
	check(t, err)
	if err := verdict(); !errors.Is(err, checkpoint.ErrRunExists) {
		t.Errorf("a folder with a run: %v", err)
	}
	c.Resume = true
	if found, err := Check(t.Context(), c); err != nil || found.Latest != 1 || found.Free <= 0 {
		t.Errorf("a run to go on with: %+v, %v", found, err)
	}
	c.Recipe.GRPO.Entropy = 0.5
	if err := verdict(); !errors.Is(err, checkpoint.ErrSettingsDiffer) {
		t.Errorf("another recipe: %v", err)
	}
	c.Recipe.GRPO.Entropy = 0
	c.Train = datasets.Set{Problems: c.Train.Problems, SHA256: "another"}
	if err := verdict(); !errors.Is(err, checkpoint.ErrSettingsDiffer) {
		t.Errorf("other data: %v", err)
	}
	folder, err := checkpoint.Open(s.Out)
	check(t, err)
	if err := verdict(); !errors.Is(err, checkpoint.ErrLocked) {
		t.Errorf("a folder at work: %v", err)
	}
	check(t, folder.Close())
	c.Recipe.Train.Out = filepath.Join(s.Out, "recipe.yaml")
	if err := verdict(); err == nil || !strings.Contains(err.Error(), "is no folder") {
		t.Errorf("a file in the folder's place: %v", err)
	}
}
