package datasets

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// printing is a program that writes text and nothing else.
func printing(t *testing.T, text string) string {
	t.Helper()
	literal, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return "import sys\nsys.stdout.write(" + string(literal) + ")\n"
}

// TestOverlayCheckersStandAnything gives every special judge its problem's own
// stored answers, which it must accept, and rubbish, which it must reject
// without falling over.
func TestOverlayCheckersStandAnything(t *testing.T) {
	problems, j := loadV1(t, outsideData(t)), openJudge(t)
	checkers, err := overlay()
	if err != nil {
		t.Fatal(err)
	}
	rubbish := []string{"", "\n", "Yes", "Yes\nABC", "Yes 1 2 3 4 5 6 7 8 x", "Yes 0 0 0 0 0 0 0 0 999", "10", "٣", "-1 0", "3 1 x", "\u0000"}
	for id, checker := range checkers {
		task := taskOf(problems[id], judge.Strict)
		if err := checker.Validate(); err != nil || task.Checker == nil {
			t.Errorf("%s: %v; checker on the problem: %+v", id, err, task.Checker)
			continue
		}
		all := task.Tests
		for i, test := range all {
			task.Tests = []judge.Test{test}
			// One stored list of actions of abc333_e loses the fight.
			want := sandbox.AC
			if id == "abc333_e" && i == 2 {
				want = sandbox.WA
			}
			check(t, j, task, test.Output, want)
		}
		if checker.Mode != "program" {
			continue
		}
		task.Tests = all[:1]
		for _, text := range rubbish {
			check(t, j, task, text, sandbox.WA)
		}
	}
}

func check(t *testing.T, j *judge.Judge, task judge.Task, output string, want sandbox.Verdict) {
	t.Helper()
	report, err := j.Judge(t.Context(), printing(t, output), task)
	if err != nil || report.Verdict != want {
		t.Errorf("%s: %.30q: got %s, %v; want %s", task.ID, output, report.Verdict, err, want)
	}
}

// TestOverlayLeavesOthersAlone covers what the overlay must not touch.
func TestOverlayLeavesOthersAlone(t *testing.T) {
	own := map[string]any{"checker": map[string]any{"mode": "exact"}}
	file := write(t, filepath.Join(t.TempDir(), "p.jsonl"),
		line(t, "abc343_a", own), line(t, "abc343_e", nil), line(t, "abc343_b", nil))
	set, err := LoadLiveCodeBench(t.Context(), Source{Path: file}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c := set.Problems[0].Checker; c == nil || c.Mode != "exact" {
		t.Errorf("the file's own checker gave way to %+v", c)
	}
	if c := set.Problems[2].Checker; c == nil || c.Mode != "program" {
		t.Errorf("abc343_e has %+v", c)
	}
	if c := set.Problems[1].Checker; c != nil {
		t.Errorf("abc343_b has %+v", c)
	}
}
