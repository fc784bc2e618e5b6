package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coderl/cr/sandbox"
)

// finished is a run with the given samples; '+' passed, '-' failed, '!' was an
// infra error.
func finished(path string, samples map[string]string) Finished {
	f := Finished{Path: path, scores: make(map[string]score)}
	f.Results.Data = DataInfo{Name: "own", SHA256: "abc"}
	for id, marks := range samples {
		for _, mark := range marks {
			verdict := map[rune]sandbox.Verdict{'+': sandbox.AC, '-': sandbox.WA, '!': sandbox.InfraError}[mark]
			f.count(id, verdict, mark == '+')
		}
	}
	return f
}

func TestCompareFlips(t *testing.T) {
	a := finished("a", map[string]string{"p1": "++--", "p2": "++++", "p3": "----", "p4": "!!!!", "p5": "+!!-"})
	b := finished("b", map[string]string{"p1": "+++-", "p2": "----", "p3": "---+", "p4": "++++", "p5": "-+!!"})
	c, err := Compare(a, b, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Problems != 4 || c.McNemar != nil {
		t.Errorf("comparison %+v", c)
	}
	near(t, "A", c.ScoreA, (.5+1+0+.5)/4, 1e-12)
	near(t, "B", c.ScoreB, (.75+0+.25+.5)/4, 1e-12)
	near(t, "difference", c.Difference.Value, c.ScoreB-c.ScoreA, 1e-12)
	if len(c.Lost) != 1 || c.Lost[0] != (Flip{"p2", 1, 0}) || len(c.Gained) != 2 {
		t.Errorf("gained %v, lost %v", c.Gained, c.Lost)
	}
	if len(c.Notices) != 1 || !strings.Contains(c.Notices[0], "1 problem left out") {
		t.Errorf("notices %q", c.Notices)
	}
}

func TestDifferentProblemsAreRefused(t *testing.T) {
	a, b := finished("a", map[string]string{"p1": "+", "p2": "-"}), finished("b", map[string]string{"p1": "+", "p3": "-"})
	if _, err := Compare(a, b, CompareOptions{}); !errors.Is(err, ErrDifferentData) || !strings.Contains(err.Error(), "p2 is in a, not in b") {
		t.Errorf("other problems: %v", err)
	}
	c, err := Compare(a, b, CompareOptions{Intersect: true})
	if err != nil || c.Problems != 1 || !strings.Contains(c.Notices[0], "1 problem in common, of 2 and 2") {
		t.Errorf("intersection: %+v, %v", c, err)
	}
	b = finished("b", map[string]string{"p1": "+", "p2": "-"})
	b.Results.Data.SHA256 = "other"
	if _, err := Compare(a, b, CompareOptions{}); !errors.Is(err, ErrDifferentData) {
		t.Errorf("other data: %v", err)
	}
	b = finished("b", map[string]string{"p3": "+"})
	if _, err := Compare(a, b, CompareOptions{Intersect: true}); err == nil {
		t.Error("nothing in common, and no error")
	}
}

// outcomes makes a run of n problems of which the first solved pass.
func outcomes(path string, n, solved int) Finished {
	samples := map[string]string{}
	for i := range n {
		samples[fmt.Sprintf("p%03d", i)] = map[bool]string{true: "+", false: "-"}[i < solved]
	}
	return finished(path, samples)
}

func TestGate(t *testing.T) {
	for name, c := range map[string]struct {
		baseline, run int
		maxDrop       float64
		want          GateOutcome
	}{
		"unchanged":              {250, 250, .02, GatePass},
		"better":                 {250, 300, .02, GatePass},
		"far worse":              {300, 200, .02, GateFail},
		"slightly worse":         {300, 295, .02, GateInconclusive},
		"small drop, wide limit": {300, 295, .10, GatePass},
	} {
		g, err := Gate(outcomes("run", 400, c.run), outcomes("base", 400, c.baseline), GateOptions{MaxDrop: c.maxDrop})
		if err != nil {
			t.Fatal(err)
		}
		if g.Outcome != c.want {
			t.Errorf("%s: %s (%s), want %s", name, g.Outcome, g.Reason, c.want)
		}
		near(t, name+": drop", g.Drop.Value, float64(c.baseline-c.run)/400, 1e-12)
		if c.want == GateInconclusive && !strings.Contains(g.Reason, "smallest drop it could detect is") {
			t.Errorf("%s: reason %q", name, g.Reason)
		}
	}
	g, err := Gate(outcomes("a", 20, 5), outcomes("b", 20, 5), GateOptions{MaxDrop: .02})
	must(t, err)
	// None of 20 is [0, 0.1684] by Clopper and Pearson.
	if want := "no problem's score changed; with 20 problems the smallest drop it could detect is 16.8 points"; g.Outcome != GatePass || g.Reason != want {
		t.Errorf("no change: %s, %s", g.Outcome, g.Reason)
	}
	if _, err := Gate(outcomes("a", 2, 1), outcomes("b", 2, 1), GateOptions{MaxDrop: 2}); err == nil {
		t.Error("a max drop of 200 points was taken")
	}
}

func TestDetectableIsFoundFourTimesInFive(t *testing.T) {
	c, err := Compare(outcomes("a", 400, 200), outcomes("b", 400, 180), CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// se = sqrt(p(1−p)/(m−1)) for 20 losses of 1 in 400.
	near(t, "stderr", *c.Difference.Stderr, .0109108, 1e-6)
	near(t, "detectable", *c.Detectable, (1.959964+.841621)*.0109108, 1e-6)
}

// officialRun reads the official verdicts of one model on LiveCodeBench v1.
func officialRun(t *testing.T, model string) Finished {
	t.Helper()
	data := os.Getenv("CR_TEST_DATA")
	if data == "" {
		t.Skip("CR_TEST_DATA is not set: the official verdicts are outside data")
	}
	raw, err := os.ReadFile(filepath.Join(data, "candidates", "mavencoder", "ref_lcb_"+model+".jsonl"))
	must(t, err)
	f := Finished{Path: model, scores: make(map[string]score)}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row struct {
			QuestionID string `json:"question_id"`
			Pass       bool   `json:"lcb_ref_pass"`
		}
		must(t, json.Unmarshal(lines.Bytes(), &row))
		f.count(row.QuestionID, sandbox.AC, row.Pass)
	}
	must(t, lines.Err())
	return f
}

// Two real models, 338 and 325 of 400: 31 and 18 problems only one of them
// solves, exact p = 0.0854, so not a regression at 5 %.
func TestCompareRealModels(t *testing.T) {
	nano, mini := officialRun(t, "gpt-4.1-nano"), officialRun(t, "gpt-4o-mini")
	c, err := Compare(nano, mini, CompareOptions{})
	must(t, err)
	near(t, "nano", c.ScoreA, 338.0/400, 1e-12)
	near(t, "mini", c.ScoreB, 325.0/400, 1e-12)
	if c.McNemar == nil || c.McNemar.OnlyA != 31 || c.McNemar.OnlyB != 18 || len(c.Lost) != 31 || len(c.Gained) != 18 {
		t.Fatalf("comparison %+v", c)
	}
	near(t, "p", c.McNemar.P, .0854, 5e-5)
	if c.Difference.Low > -.06 || c.Difference.High < 0 || c.Difference.High > .01 {
		t.Errorf("difference %+v: the interval must hold 0, as p > 0.05", c.Difference)
	}
	g, err := Gate(mini, nano, GateOptions{MaxDrop: .02})
	must(t, err)
	if g.Outcome != GateInconclusive {
		t.Errorf("gate of two points: %s, %s", g.Outcome, g.Reason)
	}
}

func TestLoadRun(t *testing.T) {
	c := testConfig(t)
	r, _, _ := undisturbed(t, c, testDeps(9))
	f, err := LoadRun(c.Out)
	must(t, err)
	if f.Results.Samples != r.Samples || len(f.scores) != 9 {
		t.Errorf("loaded %+v", f)
	}
	self, err := Compare(f, f, CompareOptions{})
	must(t, err)
	near(t, "pass@1", self.ScoreA, r.PassAtK["1"].Value, 1e-12)
	other := testConfig(t)
	other.Extract = ExtractLCB
	undisturbed(t, other, testDeps(9))
	g, err := LoadRun(other.Out)
	must(t, err)
	diff, err := Compare(f, g, CompareOptions{})
	must(t, err)
	if len(diff.Notices) != 1 || diff.Notices[0] != `the runs differ in extract: "last" and "lcb"` {
		t.Errorf("notices %q", diff.Notices)
	}
	if _, err := LoadRun(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no finished run") {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestReportTexts(t *testing.T) {
	g, err := Gate(outcomes("runs/new", 400, 295), outcomes("runs/main", 400, 300), GateOptions{MaxDrop: .02})
	must(t, err)
	var text strings.Builder
	must(t, WriteGate(&text, g))
	for _, want := range []string{
		"gate: inconclusive: the drop lies between", "A runs/main\nB runs/new\n400 problems: pass@1 75.0 % and 73.8 %\n",
		"B − A: -1.2 points", "solved only by A: 5, only by B: 0; exact McNemar p = 0.0625\n", "lost (5): p295 1.00→0.00",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("gate text lacks %q:\n%s", want, text.String())
		}
	}
	se := .0130524
	r := Results{
		Benchmark: "livecodebench", Data: DataInfo{Name: "v1", Window: "2023-05-01..2024-03-31"}, Problems: 400, Samples: 1200,
		Figures: Figures{PassAtK: map[string]Estimate{
			"10": {Value: 1, Stderr: &se, Low: .99, High: 1}, "2": {Value: .9375, Stderr: &se, Low: .917, High: .957}, "1": {Value: .5, Low: 0, High: 1},
		}, MeanTestShare: .9},
		By: map[string]map[string]Group{
			"difficulty": {
				"hard": {Problems: 90, Figures: Figures{PassAtK: map[string]Estimate{"1": {Value: .2}}}},
				"easy": {Problems: 310, Figures: Figures{PassAtK: map[string]Estimate{"1": {Value: .9}}}},
			},
			"platform": {"atcoder": {Problems: 400}},
		},
	}
	text.Reset()
	must(t, WriteReport(&text, r))
	got := text.String()
	for _, want := range []string{"livecodebench on v1, 2023-05-01..2024-03-31: 400 problems, 1200 samples", "pass@2                 93.8 % ± 1.3   95 %: 91.7 to 95.7 %"} {
		if !strings.Contains(got, want) {
			t.Errorf("report lacks %q:\n%s", want, got)
		}
	}
	order := []string{"pass@1 ", "pass@2 ", "pass@10 ", "easy", "hard"}
	for i := 1; i < len(order); i++ {
		if strings.Index(got, order[i-1]) > strings.Index(got, order[i]) {
			t.Errorf("%s stands before %s:\n%s", order[i], order[i-1], got)
		}
	}
	if strings.Contains(got, "atcoder") {
		t.Errorf("a way with one group is shown:\n%s", got)
	}
}
