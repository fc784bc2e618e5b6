package tinytasks

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// Generator makes the tasks of one split.
type Generator struct {
	split   Split
	seed    uint64
	grammar grammar
}

// NewGenerator makes a generator. Equal arguments make equal tasks.
func NewGenerator(split Split, seed uint64) (*Generator, error) {
	if depths[split] == nil {
		return nil, fmt.Errorf("split %q is none of %s, %s, %s", split, SFT, RL, HeldOut)
	}
	return &Generator{split: split, seed: seed, grammar: newGrammar()}, nil
}

// Tasks makes the split's first n tasks, no two with the same program.
func (g *Generator) Tasks(n int) []Task {
	seen := map[string]bool{}
	tasks := make([]Task, 0, n)
	for i := uint64(0); len(tasks) < n; i++ {
		t := g.draw(i)
		if program := t.Recipe.Program(); !seen[program] {
			seen[program] = true
			t.ID = fmt.Sprintf("%s-%05d", g.split, len(tasks))
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// draw makes one task. The depth is drawn once: drawn again with every recipe
// that is no good, deep tasks would grow rare.
func (g *Generator) draw(i uint64) Task {
	h := fnv.New64a()
	h.Write([]byte(g.split))
	rng := rand.New(rand.NewPCG(g.seed^h.Sum64(), i))
	depth := drawDepth(rng, g.split)
	for {
		r := g.grammar.recipe(rng, depth)
		if splitOf(r) != g.split {
			continue
		}
		if t, ok := g.task(rng, r); ok {
			return t
		}
	}
}

// What is tried for a task, and what is kept.
const (
	sampleTrials = 16
	sampleCount  = 3
	hiddenTrials = 30
	hiddenLeast  = 6
)

// task gives a recipe its sample and tests. A recipe of which some clause
// changes nothing, or that has too few tame inputs, is no task.
func (g *Generator) task(rng *rand.Rand, r Recipe) (Task, bool) {
	variants := g.grammar.variants(r)
	samples := slices.DeleteFunc(trials(rng, r, variants, sampleBounds, sampleTrials), func(t trial) bool { return t.blank })
	hidden := trials(rng, r, variants, hiddenBounds, hiddenTrials)
	if len(samples) < sampleTrials/3 || len(hidden) < hiddenTrials/2 {
		return Task{}, false
	}
	killed := make([]bool, len(variants))
	t := Task{Recipe: r, Hidden: cover(hidden, killed, hiddenLeast), Starter: r.starter()}
	if r.Functional {
		t.Method = Method
	}
	slices.SortStableFunc(samples, better)
	samples = samples[:sampleCount]
	rng.Shuffle(len(samples), func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
	for _, s := range samples {
		t.Samples = append(t.Samples, s.test)
	}
	for i, v := range variants {
		switch {
		case killed[i]:
			t.Wrong = append(t.Wrong, v)
		case v.How == Dropped:
			return Task{}, false // the clause changes nothing
		}
	}
	return t.Told(0), true
}

// newTest is the test that a recipe's answer on a list makes.
func newTest(r Recipe, l list, a answer) Test {
	t := Test{list: l, shown: a.printed(r.Functional)}
	if r.Functional {
		t.Input, t.Output = l.json(), a.json()
	} else {
		t.Input, t.Output = l.line()+"\n", t.shown+"\n"
	}
	return t
}

// Told is the task with its i-th sample in the statement.
func (t Task) Told(i int) Task {
	t.Public = t.Samples[i]
	t.Statement = t.Recipe.statement(t.Public)
	return t
}

// Shows reports whether the sample shows that a variant is wrong.
func (t Task) Shows(v Variant) bool {
	a, ok := v.Recipe.run(t.Public.list, hiddenBounds.value)
	return ok && a.printed(t.Recipe.Functional) != t.Public.shown
}
