package tinytasks

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func tasksOf(t *testing.T, s Split, n int) []Task {
	t.Helper()
	g, err := NewGenerator(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g.Tasks(n)
}

func TestSplitsShareNoComposition(t *testing.T) {
	of := map[string]Split{}
	for _, split := range []Split{SFT, RL, HeldOut} {
		hard := 0
		for _, task := range tasksOf(t, split, 400) {
			composition := task.Recipe.Composition()
			if other, seen := of[composition]; seen && other != split {
				t.Errorf("%q is in %s and in %s", composition, other, split)
			}
			of[composition] = split
			if task.Recipe.Depth() >= deep {
				hard++
			}
		}
		if (split == SFT) != (hard == 0) || split != SFT && (hard < 200 || hard > 300) {
			t.Errorf("%s: %d of 400 tasks are deep", split, hard)
		}
	}
}

func TestEqualSeedsMakeEqualTasks(t *testing.T) {
	var files [3]bytes.Buffer
	for i, seed := range []uint64{1, 1, 2} {
		g, err := NewGenerator(HeldOut, seed)
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteJSONL(&files[i], g.Tasks(30)); err != nil {
			t.Fatal(err)
		}
	}
	if files[0].String() != files[1].String() {
		t.Error("the same seed made other tasks")
	}
	if files[0].String() == files[2].String() {
		t.Error("another seed made the same tasks")
	}
}

func TestUnknownSplit(t *testing.T) {
	if _, err := NewGenerator("test", 1); err == nil || !strings.Contains(err.Error(), `"test" is none of sft, rl, heldout`) {
		t.Errorf("error %v", err)
	}
}

// TestTasks holds what every task promises: an answer worth copying, tests that
// differ, wrong programs that some test catches, a sample that catches most.
func TestTasks(t *testing.T) {
	caught, all := 0, 0
	for _, task := range tasksOf(t, HeldOut, 200) {
		if n := len(task.Hidden); n < hiddenLeast || n > 12 {
			t.Errorf("%s: %d hidden tests", task.ID, n)
		}
		inputs := map[string]bool{}
		for _, test := range task.Hidden {
			inputs[test.Input] = true
		}
		if len(inputs) != len(task.Hidden) {
			t.Errorf("%s: a hidden test stands twice", task.ID)
		}
		if shown := task.Public.Shown(); shown == "" || len(shown) > sampleBounds.shown {
			t.Errorf("%s: the sample shows %q", task.ID, shown)
		}
		for _, v := range task.Wrong {
			if v.Recipe.Program() == task.Recipe.Program() || !slices.ContainsFunc(task.Hidden, func(test Test) bool {
				a, ok := v.Recipe.run(test.list, hiddenBounds.value)
				return ok && a.printed(task.Recipe.Functional) != test.shown
			}) {
				t.Errorf("%s: no hidden test catches %q", task.ID, v.Recipe.Composition())
			}
			if all++; task.Shows(v) {
				caught++
			}
		}
	}
	if caught < all*7/10 {
		t.Errorf("samples show %d of %d wrong programs", caught, all)
	}
}

func TestProgram(t *testing.T) {
	g := newGrammar()
	r := Recipe{
		Reads: numbers, Finish: g.finishes["sum"],
		Steps: []Clause{{step: g.steps["even"]}, {step: g.steps["add"], args: args{k: 3}}},
	}
	l := list{kind: numbers, nums: []int{4, 1, 6}}
	a, ok := r.run(l, sampleBounds.value)
	sample := newTest(r, l, a)
	if !ok || sample.Output != "16\n" {
		t.Fatalf("answer %q, %v", sample.Output, ok)
	}
	same(t, "statement", r.statement(sample), "Read a line of numbers.\nKeep the even numbers.\nAdd 3 to each number.\nPrint the sum.\n\nInput:\n4 1 6\nOutput:\n16")
	same(t, "program", r.Program(), "# Read a line of numbers.\na = list(map(int, input().split()))\n# Keep the even numbers.\na = [x for x in a if x % 2 == 0]\n# Add 3 to each number.\na = [x + 3 for x in a]\n# Print the sum.\nprint(sum(a))")
	same(t, "draft", r.Draft(sample), "# Read a line of numbers.\na = list(map(int, '4 1 6'.split()))\n# Keep the even numbers.\na = [x for x in a if x % 2 == 0]\n# Add 3 to each number.\na = [x + 3 for x in a]\n# Print the sum.\nprint(sum(a))")
	r.Functional = true
	sample = newTest(r, l, a)
	same(t, "starter", r.starter(), "class Solution:\n    def solve(self, a: List[int]) -> int:\n        ")
	same(t, "draft", r.Draft(sample), r.starter()+"# Given a list of numbers.\n        # Keep the even numbers.\n        a = [x for x in a if x % 2 == 0]\n        # Add 3 to each number.\n        a = [x + 3 for x in a]\n        # Return the sum.\n        return sum(a)\nprint(Solution().solve([4, 1, 6]))")
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}
