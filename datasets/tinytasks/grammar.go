package tinytasks

import (
	"math/rand/v2"
	"slices"
)

// grammar is the tables of clauses, in a fixed order and by name.
type grammar struct {
	stepList   []step
	finishList []finish
	steps      map[string]*step
	finishes   map[string]*finish
}

func newGrammar() grammar {
	g := grammar{
		stepList:   slices.Concat(numberSteps(), wordSteps(), commonSteps()),
		finishList: slices.Concat(numberFinishes(), wordFinishes(), commonFinishes()),
		steps:      map[string]*step{}, finishes: map[string]*finish{},
	}
	for i := range g.stepList {
		g.steps[g.stepList[i].name] = &g.stepList[i]
	}
	for i := range g.finishList {
		g.finishes[g.finishList[i].name] = &g.finishList[i]
	}
	return g
}

// letters are those that words often have.
const letters = "aeorstlnm"

// recipe draws a recipe with the given number of steps.
func (g grammar) recipe(rng *rand.Rand, depth int) Recipe {
	r := Recipe{Functional: rng.IntN(10) < 3, Reads: numbers}
	if rng.IntN(10) < 4 {
		r.Reads = words
	}
	for len(r.Steps) < depth {
		s := &g.stepList[rng.IntN(len(g.stepList))]
		if s.takes != anything && s.takes != r.kindAt(len(r.Steps)) {
			continue
		}
		r.Steps = append(r.Steps, Clause{step: s, args: draw(rng, s.param)})
	}
	for r.Finish == nil {
		f := &g.finishList[rng.IntN(len(g.finishList))]
		if f.takes == anything || f.takes == r.kindAt(depth) {
			r.Finish = f
		}
	}
	return r
}

func draw(rng *rand.Rand, p parameter) args {
	switch p {
	case small:
		return args{k: 2 + rng.IntN(8)}
	case threshold:
		return args{k: 3 + rng.IntN(38)}
	case letter:
		return args{c: letters[rng.IntN(len(letters))]}
	}
	return args{}
}
