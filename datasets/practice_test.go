package datasets

import "testing"

// What the shipped model is reinforced on is made anew each time, the same, and
// holds no composition that it is measured by.
func TestPracticeIsNotHeldOut(t *testing.T) {
	practice, err := Shipped(practiceName)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Shipped(practiceName)
	if err != nil {
		t.Fatal(err)
	}
	if len(practice.Problems) != practiceTasks || practice.SHA256 != again.SHA256 {
		t.Errorf("%d problems, digests %s and %s", len(practice.Problems), practice.SHA256, again.SHA256)
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
	if functional == 0 || functional == len(practice.Problems) {
		t.Errorf("%d of %d problems are functional", functional, len(practice.Problems))
	}
}
