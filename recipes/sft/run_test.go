package sft

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/runtime/model"
)

// testConfig is a run of nine steps as golden.py has it; opened sees the model
// before its first step.
func testConfig(t *testing.T, data []examples.Example, opened func(*bigram)) Config {
	t.Helper()
	r, err := preset.LoadSFT("toolcall-sft", []string{
		"batch.size=8", "batch.micro=2", "batch.tokens=60", "optim.lr=0.05", "optim.warmup=0.3", "train.epochs=3",
		"train.save_every=0", "data.shuffle=false", "train.out=" + filepath.Join(t.TempDir(), "run"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return Config{
		Recipe: r, Train: data, Validation: data, Console: io.Discard, Threads: 2, Version: "test",
		Open: func(_ context.Context, checkpoint string) (Trainer, error) {
			b, err := openBigram(checkpoint)
			if err == nil && opened != nil {
				opened(b)
			}
			return b, err
		},
	}
}

func readMetrics(t *testing.T, dir string) []map[string]float64 {
	t.Helper()
	var lines []map[string]float64
	dec := json.NewDecoder(bytes.NewReader(read(t, filepath.Join(dir, "metrics.jsonl"))))
	for dec.More() {
		var line map[string]float64
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	return lines
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// lively makes a run with checkpoints and validations at several steps.
func lively(c *Config) {
	c.Recipe.Data.Shuffle = true
	c.Recipe.Train.SaveEvery, c.Recipe.Train.ValidateEvery, c.Recipe.Train.Keep = 2, 3, 2
}

// same compares what two runs left.
func same(t *testing.T, what string, whole, other Config, step int) {
	t.Helper()
	for _, name := range []string{"metrics.jsonl", fmt.Sprintf("global_step_%d/bigram.json", step), fmt.Sprintf("global_step_%d/cr_state.json", step), "latest_checkpointed_iteration.txt", "best_checkpointed_iteration.txt"} {
		want, got := read(t, filepath.Join(whole.Recipe.Train.Out, name)), read(t, filepath.Join(other.Recipe.Train.Out, name))
		if !bytes.Equal(want, got) {
			t.Errorf("%s: %s is\n%.400s\nwant\n%.400s", what, name, got, want)
		}
	}
}

// A run that ends at any call of the trainer, by a signal (which saves) or by
// sudden death, goes on to what an undisturbed one leaves.
func TestResumedRunIsTheSame(t *testing.T) {
	_, data := readGolden(t)
	whole := testConfig(t, data, nil)
	lively(&whole)
	calls := 0
	whole.Open = countingOpen(&calls)
	if _, err := Run(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	if calls < 30 {
		t.Fatalf("only %d calls", calls)
	}
	for at := 1; at <= calls; at++ {
		for _, signal := range []bool{true, false} {
			t.Run(fmt.Sprintf("call %d, signal %v", at, signal), func(t *testing.T) {
				t.Parallel() // what takes time is the disk
				c := endedAt(t, data, at, signal)
				if _, err := Run(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				same(t, "the resumed run", whole, c, 9)
			})
		}
	}
}

// endedAt runs until a call of the trainer, where a signal or an error ends it.
// It returns the settings to go on with.
func endedAt(t *testing.T, data []examples.Example, at int, signal bool) Config {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	death := errors.New("sudden death")
	c := testConfig(t, data, func(b *bigram) {
		b.at = func(call int, _ string) error {
			switch {
			case call != at:
				return nil
			case signal:
				cancel()
				return ctx.Err()
			}
			return death
		}
	})
	lively(&c)
	if _, err := Run(ctx, c); signal != errors.Is(err, ErrInterrupted) || !signal && !errors.Is(err, death) {
		t.Fatalf("ended with %v", err)
	}
	c.Open, c.Resume = testConfig(t, data, nil).Open, true
	return c
}

func countingOpen(calls *int) func(context.Context, string) (Trainer, error) {
	return func(_ context.Context, checkpoint string) (Trainer, error) {
		b, err := openBigram(checkpoint)
		if err == nil {
			b.at = func(call int, _ string) error { *calls = call; return nil }
		}
		return b, err
	}
}

// Stopping at 5 of 9 steps and going on leaves what going through leaves.
func TestStagedRunIsTheSame(t *testing.T) {
	_, data := readGolden(t)
	whole, staged := testConfig(t, data, nil), testConfig(t, data, nil)
	lively(&whole)
	lively(&staged)
	if _, err := Run(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	staged.Steps = 5
	result, err := Run(t.Context(), staged)
	if err != nil {
		t.Fatal(err)
	}
	lines := readMetrics(t, staged.Recipe.Train.Out)
	if last := lines[len(lines)-1]; len(lines) != 5 || last["val/loss"] != *result.ValidationLoss || last["val/loss"] == 0 {
		t.Errorf("after 5 steps: %d lines, the last %v, result %+v", len(lines), last, result)
	}
	if result.Steps != 5 || !strings.HasSuffix(result.Checkpoint, "global_step_5") {
		t.Errorf("result %+v", result)
	}
	staged.Resume = true
	if again, err := Run(t.Context(), staged); err != nil || !reflect.DeepEqual(again, result) {
		t.Errorf("nothing more to do gives %+v (%v), want %+v", again, err, result)
	}
	staged.Steps = 0
	if result, err = Run(t.Context(), staged); err != nil || result.Steps != 9 {
		t.Fatalf("%+v (%v)", result, err)
	}
	same(t, "staged", whole, staged, 9)
}

func TestCheckpointsThatStay(t *testing.T) {
	_, data := readGolden(t)
	// Validations at 2, 4, 6, 8 and 9.
	c := testConfig(t, data, func(b *bigram) { b.losses = []float64{3, 1, 2, 4, 5} })
	c.Recipe.Batch.Tokens = 1000 // a validation is one call
	c.Recipe.Train.SaveEvery, c.Recipe.Train.ValidateEvery, c.Recipe.Train.Keep = 2, 2, 2
	result, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := checkpoint.Open(c.Recipe.Train.Out)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if steps, err := folder.Steps(); err != nil || !reflect.DeepEqual(steps, []int{4, 8, 9}) {
		t.Errorf("checkpoints %v (%v), want the best, 4, and the last two", steps, err)
	}
	if result.Best != folder.Step(4) || result.Checkpoint != folder.Step(9) {
		t.Errorf("result %+v", result)
	}
}

func TestEarlyStop(t *testing.T) {
	_, data := readGolden(t)
	c := testConfig(t, data, func(b *bigram) { b.losses = []float64{3, 1, 2, 1, 5} })
	c.Recipe.Batch.Tokens = 1000
	c.Recipe.Train.ValidateEvery, c.Recipe.Train.Patience = 1, 2
	result, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if !result.StoppedEarly || result.Steps != 4 || !strings.HasSuffix(result.Best, "global_step_2") || !strings.HasSuffix(result.Checkpoint, "global_step_4") {
		t.Errorf("result %+v, want a stop after step 4, best 2", result)
	}
	c.Resume = true
	if again, err := Run(t.Context(), c); err != nil || !reflect.DeepEqual(again, result) {
		t.Errorf("resumed: %+v (%v), want %+v", again, err, result)
	}
}

// A step whose gradient is not finite changes no weight and is counted.
func TestSkippedStep(t *testing.T) {
	_, data := readGolden(t)
	var notes []string
	var model *bigram
	c := testConfig(t, data, func(b *bigram) {
		model = b
		b.at = func(_ int, name string) error {
			if name == "step" && b.Updates == 2 && len(notes) == 0 {
				b.grad[0] = math.NaN()
			}
			return nil
		}
	})
	c.Note = func(line string) { notes = append(notes, line) }
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "step 3") || model.Updates != 8 {
		t.Errorf("notes %q after %d updates", notes, model.Updates)
	}
	if text := string(read(t, filepath.Join(c.Recipe.Train.Out, "metrics.jsonl"))); strings.Count(text, `"train/grad_norm": null`) != 1 {
		t.Errorf("metrics\n%s", text)
	}
}

func TestRefusedToGoOn(t *testing.T) {
	_, data := readGolden(t)
	c := testConfig(t, data, nil)
	files := map[string]string{"config.json": "1", "tokenizer.json": "2"}
	c.Base = checkpoint.Base{Path: "base", Weights: "a", Files: files}
	c.Steps = 3
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), c); !errors.Is(err, ErrRunExists) {
		t.Errorf("without resuming: %v", err)
	}
	c.Resume, c.Steps = true, 0
	for name, change := range map[string]func(*Config){
		"the model base has not the weights now that it began from": func(c *Config) {
			c.Base.Weights = "b"
		},
		"the model base has not the tokenizer.json now": func(c *Config) {
			c.Base.Files = map[string]string{"config.json": "1", "tokenizer.json": "3"}
		},
		"the model base has not the chat_template.jinja now": func(c *Config) {
			c.Base.Files = map[string]string{"config.json": "1", "tokenizer.json": "2", "chat_template.jinja": "3"}
		},
		"optim.lr was 0.05, now 0.5":                        func(c *Config) { c.Recipe.Optim.LR = 0.5 },
		"batch.size was 8, now 4":                           func(c *Config) { c.Recipe.Batch.Size = 4 },
		"data.train gave 24 other examples, now 23":         func(c *Config) { c.Train = data[:23] },
		"data.validation gave 24 other examples, now 1":     func(c *Config) { c.Validation = data[:1] },
		"its learning rate ends at step 9, not 12":          func(c *Config) { c.Steps = 12 },
		"model.path was hub:Qwen/Qwen3-1.7B, now elsewhere": func(c *Config) { c.Recipe.Model.Path = "elsewhere" },
	} {
		changed := c
		change(&changed)
		if _, err := Run(t.Context(), changed); !errors.Is(err, ErrSettingsDiffer) || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q", err, name)
		}
	}
	c.Recipe.Train.Keep, c.Recipe.Train.SaveEvery, c.Base.Path = 1, 1, "moved"
	if _, err := Run(t.Context(), c); err != nil {
		t.Errorf("what may change is refused: %v", err)
	}
}

func TestTooFewExamples(t *testing.T) {
	_, data := readGolden(t)
	c := testConfig(t, data[:7], nil)
	if _, err := Run(t.Context(), c); !errors.Is(err, ErrTooFew) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(c.Recipe.Train.Out); err == nil {
		t.Error("a folder was made for nothing")
	}
}

func TestPlan(t *testing.T) {
	_, data := readGolden(t)
	c := testConfig(t, data, nil)
	for _, want := range []struct{ epochs, recipe, flag, last, schedule int }{
		{3, 0, 0, 9, 9}, {3, 5, 0, 5, 5}, {3, 0, 4, 4, 9}, {3, 0, 12, 12, 12},
	} {
		c.Recipe.Train.Epochs, c.Recipe.Train.Steps = want.epochs, want.recipe
		p, err := NewPlan(c.Recipe, c.Train, c.Validation, want.flag)
		if err != nil || p.Last != want.last || p.Schedule != want.schedule {
			t.Errorf("%+v gives %+v (%v)", want, p, err)
		}
	}
	c.Recipe.Batch.Size = 7
	p, err := NewPlan(c.Recipe, c.Train, c.Validation, 0)
	if err != nil || p.PerEpoch != 3 || p.LeftOut != 3 || p.MicroTokens != 60 {
		t.Errorf("%+v (%v)", p, err)
	}
	// 7 examples have at most 16+16+16+16+13+13+13 tokens, the validation set 4.
	c.Recipe.Batch.Tokens = 1000
	p, err = NewPlan(c.Recipe, c.Train, c.Validation[:1], 0)
	if err != nil || p.MicroTokens != 103 {
		t.Errorf("%+v (%v)", p, err)
	}
}

// The estimate against numbers worked out by hand: a model of one layer, two
// heads of 4, width 10, 7 tokens, not tied, with 1000 weights; an epoch of 2 × 5
// tokens of which 3 each are trained; and 2 × 5 tokens validated once.
func TestFLOPs(t *testing.T) {
	e := examples.Example{IDs: make([]int32, 5), Trained: []examples.Span{{From: 1, To: 4}}}
	c := testConfig(t, nil, nil)
	c.Recipe.Batch.Size, c.Recipe.Train.Epochs, c.Recipe.Model.Checkpointing = 2, 1, false
	p, err := NewPlan(c.Recipe, []examples.Example{e, e}, []examples.Example{e, e}, 0)
	if err != nil {
		t.Fatal(err)
	}
	config := model.Config{Hidden: 10, Layers: 1, Heads: 2, HeadDim: 4, Vocab: 7}
	// 10 tokens × 2 × (1000 − 70 embedding − 70 head) + 6 targets × 2 × 70 + 2 × 50 × 8.
	forward := 17200.0 + 840 + 800
	for _, want := range []struct {
		checkpointing bool
		rank          int
		passes        float64
	}{{false, 0, 3 + 1}, {true, 0, 4 + 1}, {false, 8, 2 + 1}, {true, 8, 3 + 1}} {
		c.Recipe.Model.Checkpointing, c.Recipe.Model.LoRA.Rank = want.checkpointing, want.rank
		if got := p.FLOPs(config, c.Recipe, 1000); got != want.passes*forward {
			t.Errorf("%+v: %v operations, want %v", want, got, want.passes*forward)
		}
	}
}
