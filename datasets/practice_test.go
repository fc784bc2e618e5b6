package datasets

import (
	"bytes"
	"testing"

	"github.com/coderl/cr/datasets/tinytasks"
)

// What the shipped model is reinforced on is what tinytasks makes, and holds no
// composition that it is measured by.
func TestPracticeIsNotHeldOut(t *testing.T) {
	practice, err := Shipped("tiny-practice")
	if err != nil {
		t.Fatal(err)
	}
	held, err := Shipped("tiny-heldout")
	if err != nil {
		t.Fatal(err)
	}
	measured, stated := map[string]bool{}, map[string]bool{}
	for _, p := range held.Problems {
		measured[p.Title], stated[p.Statement] = true, true
	}
	ids, functional := map[string]bool{}, 0
	for _, p := range practice.Problems {
		if measured[p.Title] || stated[p.Statement] {
			t.Errorf("%s (%s) is held out", p.ID, p.Title)
		}
		if ids[p.ID] || len(p.Tests) < 2 {
			t.Errorf("%s stands twice, or has %d tests", p.ID, len(p.Tests))
		}
		ids[p.ID] = true
		if p.Functional() {
			functional++
		}
	}
	if len(practice.Problems) != 2000 || functional == 0 || functional == len(practice.Problems) {
		t.Errorf("%d of %d problems are functional", functional, len(practice.Problems))
	}
	sameAsMade(t, practice.Problems[:5])
}

// sameAsMade compares the first problems of the set with those of the generator.
func sameAsMade(t *testing.T, problems []Problem) {
	t.Helper()
	maker, err := tinytasks.NewGenerator(tinytasks.RL, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, task := range maker.Tasks(len(problems)) {
		var b bytes.Buffer
		if err := tinytasks.WriteJSONL(&b, []tinytasks.Task{task}); err != nil {
			t.Fatal(err)
		}
		r, err := parseRecord(bytes.TrimSpace(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if p := problems[i]; p.ID != r.ID || p.Statement != r.Statement || p.Title != r.Title {
			t.Errorf("problem %d is %s (%s), made is %s (%s)", i, p.ID, p.Title, r.ID, r.Title)
		}
	}
}
