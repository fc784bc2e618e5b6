package eval

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coderl/cr/datasets"
)

// stepRun is a finished run over n problems with two programs each, of which the
// first `both` problems have two right ones and the next `one` have one.
func stepRun(t *testing.T, dir string, step, n, both, one int, change func(*Config, *Deps)) StepRun {
	t.Helper()
	c, d := testConfig(t), testDeps(n)
	c.Out = filepath.Join(dir, fmt.Sprintf("step_%d", step))
	programs := datasets.Samples{SHA256: "of the programs"}
	for i, p := range d.Set.Problems {
		for sample := range 2 {
			right := i < both || i < both+one && sample == 0
			programs.Entries = append(programs.Entries, datasets.Sample{ID: p.ID, Index: sample, Field: "code", Text: map[bool]string{true: "right = 1", false: "right = 0"}[right]})
		}
	}
	d.Endpoint, d.Tools, d.Programs = nil, nil, &programs
	if change != nil {
		change(&c, &d)
	}
	if _, err := Run(t.Context(), c, d); err != nil {
		t.Fatal(err)
	}
	return StepRun{Step: step, Path: c.Out}
}

func loadSteps(t *testing.T, runs ...StepRun) Steps {
	t.Helper()
	s, err := LoadSteps(runs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every step is set against the earliest, whatever the order of the runs.
func TestStepsAgainstTheFirst(t *testing.T) {
	dir := t.TempDir()
	s := loadSteps(t, stepRun(t, dir, 40, 40, 30, 0, nil), stepRun(t, dir, 0, 40, 10, 10, nil), stepRun(t, dir, 20, 40, 10, 10, nil))
	if got := []int{s.Steps[0].Step, s.Steps[1].Step, s.Steps[2].Step}; !slices.Equal(got, []int{0, 20, 40}) {
		t.Fatalf("steps %v", got)
	}
	first, same, last := s.Steps[0], s.Steps[1], s.Steps[2]
	near(t, "pass@1", first.PassAtK["1"].Value, (10+.5*10)/40, 1e-12)
	near(t, "pass@2", first.PassAtK["2"].Value, 20.0/40, 1e-12)
	if first.AgainstFirst != nil || same.AgainstFirst == nil || same.AgainstFirst.Gained != 0 || same.AgainstFirst.Lost != 0 {
		t.Errorf("differences of the same answers: %+v, %+v", first.AgainstFirst, same.AgainstFirst)
	}
	d := last.AgainstFirst
	near(t, "difference", d.Difference.Value, (.5*10+10)/40, 1e-12)
	// 10 problems gained a half, 10 a whole, 20 nothing: the standard error of
	// those differences, not of two independent scores.
	near(t, "standard error", *d.Difference.Stderr, 0.06638562557, 1e-9)
	if d.Gained != 20 || d.Lost != 0 || !(d.Difference.Low > .2 && d.Difference.High < .55) {
		t.Errorf("last step %+v", d)
	}
	if len(s.Notices) != 0 {
		t.Errorf("notices %q", s.Notices)
	}
}

func TestStepsConclusion(t *testing.T) {
	dir := t.TempDir()
	first, weak := stepRun(t, dir, 0, 40, 10, 10, nil), stepRun(t, dir, 5, 40, 11, 10, nil)
	for want, last := range map[string]StepRun{
		"pass@1 rose from step 0 to step 1: +37.5 points":                 stepRun(t, dir, 1, 40, 30, 0, nil),
		"pass@1 fell from step 0 to step 2: -37.5 points":                 stepRun(t, dir, 2, 40, 0, 0, nil),
		"no problem's score changed from step 0 to step 3":                stepRun(t, dir, 3, 40, 10, 10, nil),
		"no significant change of pass@1 from step 0 to step 4: +2.5 poi": stepRun(t, dir, 4, 40, 11, 10, nil),
	} {
		if got := loadSteps(t, first, last).Conclusion(); !strings.HasPrefix(got, want) {
			t.Errorf("conclusion %q, want %q", got, want)
		}
	}
	if got := loadSteps(t, first, weak).Conclusion(); !strings.Contains(got, "smallest change that these problems and samples could show") {
		t.Errorf("conclusion %q does not say what could be seen", got)
	}
}

func TestStepsTables(t *testing.T) {
	dir := t.TempDir()
	s := loadSteps(t, stepRun(t, dir, 0, 10, 2, 2, nil), stepRun(t, dir, 10, 10, 4, 4, nil), stepRun(t, dir, 20, 10, 2, 2, nil))
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return WriteSteps(b, s) },
		"markdown": func(b *bytes.Buffer) error { return WriteStepsMarkdown(b, s) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"30.0 %", "+30.0 points", "no problem changed", "10 problems, 20 samples a step", "no problem's score changed from step 0 to step 20"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %q:\n%s", name, want, b.String())
			}
		}
	}
	var b bytes.Buffer
	if err := WriteStepsCSV(&b, s); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cell := func(row int, name string) string { return rows[row][slices.Index(rows[0], name)] }
	if len(rows) != 4 || cell(2, "step") != "10" || cell(2, "pass@1") != "0.6" || cell(2, "pass@2") != "0.8" || cell(1, "difference") != "" || cell(2, "samples") != "20" {
		t.Errorf("rows %q", rows)
	}
}

// A single step is a table without differences.
func TestOneStep(t *testing.T) {
	s := loadSteps(t, stepRun(t, t.TempDir(), 7, 5, 2, 0, nil))
	var b bytes.Buffer
	if err := WriteSteps(&b, s); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "against") || !strings.Contains(b.String(), "40.0 %") {
		t.Errorf("table\n%s", b.String())
	}
}

func TestStepsThatDoNotCompare(t *testing.T) {
	dir := t.TempDir()
	first := stepRun(t, dir, 0, 6, 2, 2, nil)
	if _, err := LoadSteps(nil); err == nil {
		t.Error("no runs, and no error")
	}
	if _, err := LoadSteps([]StepRun{first, {Step: 3, Path: t.TempDir()}}); err == nil || !strings.Contains(err.Error(), "step 3: ") {
		t.Errorf("a run that did not end: %v", err)
	}
	other := stepRun(t, dir, 1, 6, 2, 2, func(_ *Config, d *Deps) { d.Set.SHA256 = "other" })
	if _, err := LoadSteps([]StepRun{first, other}); !errors.Is(err, ErrDifferentData) || !strings.Contains(err.Error(), "steps 0 and 1: ") {
		t.Errorf("other data: %v", err)
	}
}

// What holds for every step is said once, what holds for some names them; weights
// differ on purpose, other settings do not.
func TestStepsNotices(t *testing.T) {
	dir := t.TempDir()
	weights := func(hash string, more ...Setting) func(*Config, *Deps) {
		return func(c *Config, d *Deps) {
			d.Set.Name = "bundled"
			c.Extra = append(more, Setting{"weights", hash})
		}
	}
	infra := func(c *Config, d *Deps) {
		weights("c")(c, d)
		d.Judge = &fakeJudge{fail: func(id string) error {
			if id == "p03" {
				return errDown
			}
			return nil
		}}
	}
	s := loadSteps(t, stepRun(t, dir, 0, 9, 2, 2, weights("a")), stepRun(t, dir, 10, 9, 2, 2, infra), stepRun(t, dir, 20, 9, 2, 2, weights("b", Setting{"dtype", "f32"})))
	if len(s.Notices) != 3 || !strings.HasPrefix(s.Notices[0], "bundled problems") || !strings.HasPrefix(s.Notices[1], "step 10: 2 of 18 samples are infra_error") ||
		s.Notices[2] != `steps 0 and 20 differ in dtype: (not set) and "f32"` {
		t.Errorf("notices %q", s.Notices)
	}
}
