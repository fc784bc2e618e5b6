package datasets

import (
	"bytes"
	"context"
	"io/fs"
	"testing"

	"github.com/coderl/cr/datasets/tinytasks"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// heldOut makes the tasks of tiny-heldout again.
func heldOut(t *testing.T) []tinytasks.Task {
	t.Helper()
	g, err := tinytasks.NewGenerator(tinytasks.HeldOut, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g.Tasks(500)
}

func TestTinyHeldoutIsWhatTheGeneratorMakes(t *testing.T) {
	packed, err := fs.ReadFile(bundled, shippedFile("tiny-heldout"))
	if err != nil {
		t.Fatal(err)
	}
	have, err := gunzip(packed)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := tinytasks.WriteJSONL(&want, heldOut(t)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want.Bytes()) {
		t.Error("the embedded file is another: go run ./cmd/tiny-data -make heldout -n 500 -check -out datasets/bundled/tiny-heldout.jsonl.gz")
	}
}

// TestTinyHeldoutIsJudgedRight judges every fifteenth task's program, and one
// program with each kind of mistake. The whole set is judged by tiny-data -check.
func TestTinyHeldoutIsJudgedRight(t *testing.T) {
	set, err := Shipped("tiny-heldout")
	if err != nil {
		t.Fatal(err)
	}
	tasks, j := heldOut(t), openJudge(t)
	tried := map[tinytasks.Mistake]int{}
	verdict := func(p Problem, code string) sandbox.Verdict {
		report, err := j.Judge(context.Background(), code, taskOf(p, judge.Strict))
		if err != nil {
			t.Fatal(err)
		}
		return report.Verdict
	}
	for i := 0; i < len(tasks); i += 15 {
		if v := verdict(set.Problems[i], tasks[i].Recipe.Program()); v != sandbox.AC {
			t.Errorf("%s: the right program is %s", tasks[i].ID, v)
		}
		for _, wrong := range tasks[i].Wrong {
			if tried[wrong.How]++; tried[wrong.How] > 5 {
				continue
			}
			if v := verdict(set.Problems[i], wrong.Recipe.Program()); v == sandbox.AC {
				t.Errorf("%s: a wrong program (%s) is accepted:\n%s", tasks[i].ID, wrong.How, wrong.Recipe.Program())
			}
		}
	}
	if len(tried) != 4 {
		t.Errorf("mistakes tried: %v", tried)
	}
}

func TestShipped(t *testing.T) {
	for _, name := range ShippedNames() {
		set, err := Shipped(name)
		if err != nil || set.Name != name || len(set.Problems) == 0 {
			t.Errorf("%s: name %q, %d problems, %v", name, set.Name, len(set.Problems), err)
		}
	}
	if _, err := Shipped("../x"); err == nil {
		t.Error("a set that is not there was found")
	}
}
