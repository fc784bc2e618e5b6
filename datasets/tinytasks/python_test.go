package tinytasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/coderl/cr/sandbox"
)

// tried is a one-clause program on one input, with what Go makes of it.
type tried struct {
	name, value, expression, want string
}

// TestEveryClauseMeansInPythonWhatItDoesHere runs every clause's expression in
// Python, on inputs of every length, and compares with the clause's function.
func TestEveryClauseMeansInPythonWhatItDoesHere(t *testing.T) {
	cases := clauseCases()
	var program strings.Builder
	program.WriteString("def show(v):\n    print(repr(v))\n")
	for _, c := range cases {
		fmt.Fprintf(&program, "a = %s\nshow(%s)\n", c.value, c.expression)
	}
	got := runPython(t, program.String())
	if len(got) != len(cases) {
		t.Fatalf("%d lines for %d cases", len(got), len(cases))
	}
	for i, c := range cases {
		if got[i] != c.want {
			t.Errorf("%s: a = %s: %s is %s in Python, %s here", c.name, c.value, c.expression, got[i], c.want)
		}
	}
}

func clauseCases() (cases []tried) {
	g := newGrammar()
	rng := rand.New(rand.NewPCG(7, 7))
	inputs := map[kind][]list{}
	for _, k := range []kind{numbers, words} {
		inputs[k] = []list{{kind: k}}
		for range 12 {
			inputs[k] = append(inputs[k], hiddenBounds.input(rng, k))
		}
	}
	// What the clauses before may leave of a word.
	inputs[words] = append(inputs[words], list{kind: words, words: []string{"a", "Ab", "BA", "aab", "a"}})
	for _, k := range []kind{numbers, words} {
		for _, l := range inputs[k] {
			for i := range g.stepList {
				if s := &g.stepList[i]; s.takes == anything || s.takes == k {
					c := Clause{step: s, args: draw(rng, s.param)}
					cases = append(cases, tried{s.name, l.literal(), c.expression(), s.do(l, c.args).literal()})
				}
			}
			for _, f := range g.finishList {
				// Beyond the bounds numbers are clamped here, and no task has them.
				tame := abs(f.do(l).num) <= hiddenBounds.value
				if tame && f.code != "" && (f.takes == anything || f.takes == k) {
					cases = append(cases, tried{f.name, l.literal(), f.code, f.do(l).literal()})
				}
			}
		}
	}
	return cases
}

// literal is the answer as Python's repr.
func (a answer) literal() string {
	if a.text != nil {
		return "'" + *a.text + "'"
	}
	return a.printed(true)
}

// runPython gives the lines that a program prints.
func runPython(t *testing.T, program string) []string {
	t.Helper()
	local, err := sandbox.NewLocal(sandbox.LocalOptions{Workers: 1})
	if errors.Is(err, sandbox.ErrNoIsolation) {
		t.Skipf("this host cannot isolate programs: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := local.Close(); err != nil {
			t.Errorf("close the sandbox: %v", err)
		}
	}()
	r, err := local.Run(context.Background(), sandbox.Job{Language: "python", Code: program, Prelude: true})
	if err != nil || r.Status != sandbox.OK {
		t.Fatalf("%v: %s: %s", err, r.Status, r.Stderr)
	}
	return strings.Split(strings.TrimSuffix(string(r.Stdout), "\n"), "\n")
}

func TestFunctionalTestsAreJSON(t *testing.T) {
	for _, task := range tasksOf(t, RL, 60) {
		for _, test := range task.Tests() {
			for _, text := range []string{test.Input, test.Output} {
				if task.Method != "" && !json.Valid([]byte(text)) {
					t.Errorf("%s: %q is no JSON", task.ID, text)
				}
			}
		}
	}
}
