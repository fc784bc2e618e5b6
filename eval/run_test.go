package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/eval/agent"
)

// outputs are the files that must not depend on the course of a run.
func outputs(t *testing.T, out string) (samples, results []byte) {
	t.Helper()
	return read(t, out, samplesFile), read(t, out, resultsFile)
}

func read(t *testing.T, out, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(out, name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// undisturbed runs a config to its end and returns its files.
func undisturbed(t *testing.T, c Config, d Deps) (Results, []byte, []byte) {
	t.Helper()
	r, err := Run(context.Background(), c, d)
	if err != nil {
		t.Fatal(err)
	}
	samples, results := outputs(t, c.Out)
	return r, samples, results
}

func TestRunWritesWhatTheContractSays(t *testing.T) {
	c := testConfig(t)
	r, samples, results := undisturbed(t, c, testDeps(9))
	if r.Problems != 9 || r.Samples != 27 || len(r.PassAtK) != 3 {
		t.Errorf("results %+v", r)
	}
	lines := bytes.Split(bytes.TrimSpace(samples), []byte("\n"))
	if len(lines) != 27 {
		t.Fatalf("%d lines, want 27", len(lines))
	}
	passed := 0
	for i, line := range lines {
		var s map[string]any
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{
			"question_id", "sample", "messages", "code", "passed", "verdict", "tests",
			"finish_reason", "prompt_tokens", "completion_tokens", "seed",
		} {
			if _, ok := s[field]; !ok {
				t.Errorf("line %d lacks %s", i+1, field)
			}
		}
		if s["question_id"] != fmt.Sprintf("p%02d", i/3) || s["sample"] != float64(i%3) {
			t.Errorf("line %d is sample %v of %v", i+1, s["sample"], s["question_id"])
		}
		if s["passed"] == true {
			passed++
		}
	}
	near(t, "pass@1", r.PassAtK["1"].Value, float64(passed)/27, 1e-12)
	if passed == 0 || r.NoCode == 0 || r.Truncated == 0 || r.ToolCalls == 0 {
		t.Errorf("the model's script does not reach every kind of sample: %+v", r)
	}
	var fields map[string]any
	if err := json.Unmarshal(results, &fields); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{
		"benchmark", "data", "problems", "samples", "pass_at_k", "mean_test_share", "by",
		"infra_errors", "truncated", "no_code", "dropped_prompts", "turns", "tool_calls", "tokens",
	} {
		if _, ok := fields[field]; !ok {
			t.Errorf("results lack %s", field)
		}
	}
	for _, way := range []string{"difficulty", "platform", "month"} {
		if _, ok := r.By[way]; !ok {
			t.Errorf("results lack by %s", way)
		}
	}
	if r.By["month"]["2024-01"].Problems != 5 || r.By["difficulty"]["hard"].Samples != 9 {
		t.Errorf("groups %+v", r.By)
	}
}

// Concurrency must not show, nor the judge's timing.
func TestRerunGivesTheSameBytes(t *testing.T) {
	_, samples, results := undisturbed(t, testConfig(t), testDeps(9))
	c := testConfig(t)
	c.Concurrency, c.Judges = 1, 1
	d := testDeps(9)
	d.Judge.(*fakeJudge).calls.Store(1000)
	_, samples2, results2 := undisturbed(t, c, d)
	if !bytes.Equal(samples, samples2) || !bytes.Equal(results, results2) {
		t.Error("a rerun with other concurrency and timing differs")
	}
}

func TestResumeAfterInterruptions(t *testing.T) {
	_, samples, results := undisturbed(t, testConfig(t), testDeps(9))
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 10 {
		c := testConfig(t)
		c.Resume = true
		for {
			ctx, cancel := context.WithCancel(context.Background())
			var left atomic.Int64
			left.Store(rng.Int64N(12))
			d := testDeps(9)
			d.Endpoint = &keyed{before: func(string) error {
				if left.Add(-1) == 0 {
					cancel()
				}
				return nil
			}}
			_, err := Run(ctx, c, d)
			cancel()
			if err == nil {
				break
			}
			if !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), "resume the run in "+c.Out) {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(c.Out, resultsFile)); err == nil {
				t.Fatal("an interrupted run has results")
			}
		}
		samples2, results2 := outputs(t, c.Out)
		if !bytes.Equal(samples, samples2) || !bytes.Equal(results, results2) {
			t.Fatalf("round %d: resumed run differs", round)
		}
	}
}

// A kill can leave any prefix of the journal: every cut within its last line is
// opened, and every 500th and those at the ends of lines run on.
func TestResumeAfterATornJournal(t *testing.T) {
	c := testConfig(t)
	c.N, c.Concurrency = 1, 1
	_, samples, results := undisturbed(t, c, testDeps(4))
	journal := read(t, c.Out, journalFile)
	manifest := read(t, c.Out, runFile)
	ends := lineEnds(journal)
	scratch := filepath.Join(t.TempDir(), journalFile)
	for cut := ends[2] - 1; cut <= len(journal); cut++ {
		if err := os.WriteFile(scratch, journal[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		whole := 0
		for _, end := range ends {
			if end <= cut {
				whole++
			}
		}
		j, err := openJournal(scratch)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if len(j.at) != whole || j.end != int64(ends[whole-1]) {
			t.Fatalf("cut at %d: %d records, end %d; want %d, %d", cut, len(j.at), j.end, whole, ends[whole-1])
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if cut%500 != 0 && !slices.ContainsFunc(ends, func(end int) bool { return cut >= end-1 && cut <= end+1 }) {
			continue
		}
		out := tornRun(t, journal[:cut], manifest)
		resumed := c
		resumed.Out, resumed.Resume = out, true
		if _, err := Run(context.Background(), resumed, testDeps(4)); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		samples2, results2 := outputs(t, out)
		if !bytes.Equal(samples, samples2) || !bytes.Equal(results, results2) {
			t.Fatalf("cut at byte %d of %d: resumed run differs", cut, len(journal))
		}
	}
}

// lineEnds are the offsets behind each line.
func lineEnds(content []byte) (ends []int) {
	for i, b := range content {
		if b == '\n' {
			ends = append(ends, i+1)
		}
	}
	return ends
}

// tornRun makes a run folder as a kill leaves it.
func tornRun(t *testing.T, journal, manifest []byte) string {
	t.Helper()
	out := t.TempDir()
	for name, content := range map[string][]byte{journalFile: journal, runFile: manifest} {
		if err := os.WriteFile(filepath.Join(out, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestDamagedJournalIsNamed(t *testing.T) {
	c := testConfig(t)
	undisturbed(t, c, testDeps(2))
	path := filepath.Join(c.Out, journalFile)
	journal := read(t, c.Out, journalFile)
	journal[bytes.IndexByte(journal, '\n')+3] = 0
	if err := os.WriteFile(path, journal, 0o644); err != nil {
		t.Fatal(err)
	}
	c.Resume = true
	if _, err := Run(context.Background(), c, testDeps(2)); err == nil || !strings.Contains(err.Error(), "journal.jsonl: line 2 is damaged") {
		t.Errorf("error %v", err)
	}
}

func TestFoldersAreNotOverwritten(t *testing.T) {
	c := testConfig(t)
	undisturbed(t, c, testDeps(2))
	if _, err := Run(context.Background(), c, testDeps(2)); !errors.Is(err, ErrRunExists) {
		t.Errorf("without being asked to resume: %v", err)
	}
	c.Resume = true
	d := testDeps(2)
	d.Endpoint = &keyed{before: func(string) error { return errors.New("a finished run needs no model") }}
	if _, err := Run(context.Background(), c, d); err != nil {
		t.Errorf("resuming a finished run: %v", err)
	}
	for name, change := range map[string]func(*Config, *Deps){
		"temperature":   func(c *Config, _ *Deps) { c.Sampling.Temperature = 0.7 },
		"n ":            func(c *Config, _ *Deps) { c.N = 4 },
		"seed":          func(c *Config, _ *Deps) { c.Sampling.Seed = 6 },
		"extract":       func(c *Config, _ *Deps) { c.Extract = ExtractLCB },
		"data_sha256":   func(_ *Config, d *Deps) { d.Set.SHA256 = "other" },
		"tools":         func(_ *Config, d *Deps) { d.Tools = nil },
		"prompts":       func(_ *Config, d *Deps) { d.Set.Problems[0].Statement = "another" },
		"dtype was":     func(c *Config, _ *Deps) { c.Extra = []Setting{{"dtype", "f32"}} },
		"limit was 0, ": func(c *Config, _ *Deps) { c.Limit = 1 },
	} {
		c, d := c, testDeps(2)
		change(&c, &d)
		if _, err := Run(context.Background(), c, d); !errors.Is(err, ErrSettingsDiffer) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s changed: %v", name, err)
		}
	}
}

func TestOneProcessAFolder(t *testing.T) {
	c := testConfig(t)
	c.Resume = true
	d := testDeps(2)
	d.Endpoint = &keyed{before: func(string) error {
		if _, err := Run(context.Background(), c, testDeps(2)); err == nil || !strings.Contains(err.Error(), "another process") {
			t.Errorf("a second run in the same folder: %v", err)
		}
		return nil
	}}
	undisturbed(t, c, d)
}

// TestRunFolderTakenAway: a run must not work on for hours into nowhere.
func TestRunFolderTakenAway(t *testing.T) {
	c, d := testConfig(t), testDeps(50)
	var once sync.Once
	d.Progress = func(Progress) { once.Do(func() { _ = os.RemoveAll(c.Out) }) }
	var last Progress
	notice := d.Progress
	d.Progress = func(p Progress) { notice(p); last = p }
	if _, err := Run(context.Background(), c, d); err == nil || !strings.Contains(err.Error(), "was removed or replaced") {
		t.Errorf("got %v", err)
	}
	if last.Done > 10 {
		t.Errorf("went on to %d samples", last.Done)
	}
}

// TestSamplesWithoutTheirSettings: a journal alone does not say how its samples
// were made.
func TestSamplesWithoutTheirSettings(t *testing.T) {
	c, d := testConfig(t), testDeps(3)
	undisturbed(t, c, d)
	if err := os.Remove(filepath.Join(c.Out, runFile)); err != nil {
		t.Fatal(err)
	}
	c.Resume = true
	if _, err := Run(context.Background(), c, d); !errors.Is(err, ErrRunExists) || !strings.Contains(err.Error(), runFile) {
		t.Errorf("got %v", err)
	}
}

func TestInfraErrorsAreTriedAgain(t *testing.T) {
	_, samples, results := undisturbed(t, testConfig(t), testDeps(4))
	c := testConfig(t)
	d := testDeps(4)
	d.Judge = &fakeJudge{fail: func(id string) error {
		if id == "p02" {
			return errDown
		}
		return nil
	}}
	r, err := Run(context.Background(), c, d)
	if err != nil {
		t.Fatal(err)
	}
	if r.InfraErrors == 0 || len(r.Notices) == 0 || !strings.Contains(r.Notices[0], "infra_error") {
		t.Errorf("results %+v", r)
	}
	if !bytes.Contains(read(t, c.Out, samplesFile), []byte(errDown.Error())) {
		t.Error("the sample does not say why")
	}
	c.Resume = true
	d = testDeps(4)
	fake := d.Judge.(*fakeJudge)
	if _, err := Run(context.Background(), c, d); err != nil {
		t.Fatal(err)
	}
	if n := fake.calls.Load(); n != int64(r.InfraErrors) {
		t.Errorf("judged %d samples again, want %d", n, r.InfraErrors)
	}
	samples2, results2 := outputs(t, c.Out)
	if !bytes.Equal(samples, samples2) || !bytes.Equal(results, results2) {
		t.Error("after trying again the run differs from an undisturbed one")
	}
}

func TestADeadEndpointEndsTheRun(t *testing.T) {
	for name, failure := range map[string]error{"fatal": fmt.Errorf("401: %w", agent.ErrFatal), "for ever": errors.New("connection refused")} {
		var calls atomic.Int64
		d := testDeps(30)
		d.Endpoint = &keyed{before: func(string) error { calls.Add(1); return failure }}
		c := testConfig(t)
		if _, err := Run(context.Background(), c, d); !errors.Is(err, failure) {
			t.Errorf("%s: %v", name, err)
		}
		if calls.Load() > 30 {
			t.Errorf("%s: %d of 90 samples were tried", name, calls.Load())
		}
	}
}

func TestPromptsThatDoNotFit(t *testing.T) {
	d := testDeps(4)
	d.Endpoint = &tooLong{}
	r, _, _ := undisturbed(t, testConfig(t), d)
	if r.DroppedPrompts != 4 || r.Problems != 4 || r.Truncated != 12 || r.PassAtK["1"].Value != 0 {
		t.Errorf("results %+v", r)
	}
}

// tooLong is a model that no prompt fits.
type tooLong struct{ keyed }

func (tooLong) Start(context.Context, agent.Opening) (agent.Conversation, error) {
	return nil, agent.ErrPromptTooLong
}

func TestSamplesMadeElsewhere(t *testing.T) {
	c, d := testConfig(t), testDeps(4)
	d.Endpoint, d.Tools = nil, nil
	d.Programs = &datasets.Samples{SHA256: "s", Entries: []datasets.Sample{
		{ID: "p02", Index: 0, Field: "code", Text: "right = 1"},
		{ID: "p02", Index: 1, Field: "completion", Text: "so:\n```python\nright = 2\n```"},
		{ID: "p01", Index: 0, Field: "solution", Text: "right = 1"},
		{ID: "p01", Index: 1, Field: "completion", Text: "no idea"},
		{ID: "zz", Index: 0, Field: "code", Text: "x"},
	}}
	r, samples, _ := undisturbed(t, c, d)
	near(t, "pass@1", r.PassAtK["1"].Value, .5, 0)
	near(t, "pass@2", r.PassAtK["2"].Value, 1, 0)
	near(t, "share", r.MeanTestShare, (.5+.75)/2, 0)
	if r.Problems != 2 || r.Samples != 4 || r.NoCode != 1 {
		t.Errorf("results %+v", r)
	}
	notices := strings.Join(r.Notices, "\n")
	if !strings.Contains(notices, "cover 2 of 4 problems") || !strings.Contains(notices, "left out: 1 sample, for problems that are not in the data") {
		t.Errorf("notices %s", notices)
	}
	if !bytes.Contains(samples, []byte(`"verdict":"TLE","seconds":6,"memory":0`)) {
		t.Errorf("a TLE shows the limit and no memory: %s", samples)
	}
}

func TestBundledDataIsCalledBundled(t *testing.T) {
	c, d := testConfig(t), testDeps(2)
	d.Set.Name = "bundled"
	r, _, results := undisturbed(t, c, d)
	var text strings.Builder
	if err := WriteReport(&text, r); err != nil {
		t.Fatal(err)
	}
	for _, output := range []string{text.String(), string(results)} {
		if !strings.Contains(output, "bundled") || !strings.Contains(output, "not LiveCodeBench") {
			t.Errorf("output does not say that the data is bundled: %s", output)
		}
	}
}

func TestProgressCounts(t *testing.T) {
	c, d := testConfig(t), testDeps(5)
	var last Progress
	d.Progress = func(p Progress) {
		if p.Done < last.Done || p.Tokens < last.Tokens {
			t.Errorf("progress went back: %+v after %+v", p, last)
		}
		last = p
	}
	r, _, _ := undisturbed(t, c, d)
	if last.Done != 15 || last.Total != 15 || last.Tokens != int64(r.Tokens.Completion) {
		t.Errorf("last progress %+v; %d tokens in all", last, r.Tokens.Completion)
	}
	near(t, "pass rate so far", float64(last.Passed)/float64(last.Scored), r.PassAtK["1"].Value, 1e-12)
}

func TestBadConfigsAreRefused(t *testing.T) {
	for want, change := range map[string]func(*Config, *Deps){
		"unknown benchmark":        func(c *Config, _ *Deps) { c.Benchmark = "x" },
		"n must be at least 1":     func(c *Config, _ *Deps) { c.N = 0 },
		"neither a model":          func(_ *Config, d *Deps) { d.Endpoint = nil },
		"no problems":              func(_ *Config, d *Deps) { d.Set.Problems = nil },
		"no run folder":            func(c *Config, _ *Deps) { c.Out = "" },
		"problem p00 stands twice": func(_ *Config, d *Deps) { d.Set.Problems[1].ID = "p00" },
		"budgets":                  func(c *Config, _ *Deps) { c.Budgets.Tokens = 0 },
	} {
		c, d := testConfig(t), testDeps(3)
		change(&c, &d)
		if _, err := Run(context.Background(), c, d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func FuzzJournal(f *testing.F) {
	f.Add([]byte("{}\n{\"sample\":{\"question_id\":\"a\"}}\n{\"sam"))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), journalFile)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		j, err := openJournal(path)
		if err != nil {
			return
		}
		defer func() { _ = j.Close() }()
		for k := range j.at {
			if _, err := j.read(k); err != nil {
				t.Error(err)
			}
		}
	})
}
