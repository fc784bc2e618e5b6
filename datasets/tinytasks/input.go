package tinytasks

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// vocabulary are the words of inputs.
var vocabulary = strings.Fields(`
	apple ant arm bear bell bird boat bone book bread cake camp card cat cloud
	coat corn cow crane cup deer desk door dog drum duck eagle ear egg elm fern
	fish flag fork fox frog gate glass goat gold grape hand hat hen hill horse
	ice ink iron island jam jar kite king lamp leaf lemon lion map melon milk
	mole moon moss nest net noon nut oak olive onion otter owl paper pear pen
	pine plum pond rain river road robin rose sand seal ship snow star stone
	sun swan table tent tiger toast tower train tree tulip water wheel wolf`)

// bounds are what an input may look like.
type bounds struct {
	least, most int // elements
	value       int // numbers in the result and on the way
	top         int // numbers of the input
	shown       int // characters of the answer; 0: any number
}

// Samples are short, so that a small model can copy them; hidden tests are not.
var (
	sampleBounds = bounds{least: 3, most: 5, value: 9999, top: 60, shown: 24}
	hiddenBounds = bounds{least: 1, most: 9, value: 1 << 30, top: 120}
)

// input draws a list.
func (b bounds) input(rng *rand.Rand, k kind) list {
	n := b.least + rng.IntN(b.most-b.least+1)
	l := list{kind: k}
	if k == words {
		n = max(b.least, n-1) // words are long
	}
	for l.len() < n {
		again := l.len() > 0 && rng.IntN(6) == 0 // duplicates matter to some clauses
		switch {
		case again:
			l = l.at(append(span(l.len(), 0, l.len()), rng.IntN(l.len())))
		case k == words:
			l.words = append(l.words, vocabulary[rng.IntN(len(vocabulary))])
		default:
			l.nums = append(l.nums, b.number(rng))
		}
	}
	return l
}

// number draws a number: mostly positive, small ones often.
func (b bounds) number(rng *rand.Rand) int {
	switch rng.IntN(10) {
	case 0, 1:
		return -1 - rng.IntN(b.top/3)
	case 2, 3, 4:
		return rng.IntN(10)
	default:
		return 1 + rng.IntN(b.top)
	}
}

// trial is an input with what the right recipe and its variants make of it.
type trial struct {
	test  Test
	kills []bool // by variant: another answer than the right one
	score int    // variants killed
	blank bool   // the answer is empty
}

// try runs a recipe and its variants on an input.
func try(r Recipe, variants []Variant, l list, b bounds) (trial, bool) {
	right, ok := r.run(l, b.value)
	if !ok {
		return trial{}, false
	}
	t := trial{test: newTest(r, l, right), kills: make([]bool, len(variants))}
	if b.shown > 0 && len(t.test.shown) > b.shown {
		return t, false
	}
	t.blank = t.test.shown == "" || t.test.shown == "[]"
	for i, v := range variants {
		other, ok := v.Recipe.run(l, b.value)
		t.kills[i] = ok && other.printed(r.Functional) != t.test.shown
		if t.kills[i] {
			t.score++
		}
	}
	return t, true
}

// trials draws up to n different inputs that the recipe answers tamely.
func trials(rng *rand.Rand, r Recipe, variants []Variant, b bounds, n int) []trial {
	var all []trial
	seen := map[string]bool{}
	for range 4 * n {
		l := b.input(rng, r.Reads)
		if key := l.line(); !seen[key] {
			seen[key] = true
			if t, ok := try(r, variants, l, b); ok {
				all = append(all, t)
			}
		}
		if len(all) == n {
			break
		}
	}
	return all
}

// better orders trials by how many variants they kill.
func better(a, b trial) int { return b.score - a.score }

// cover picks tests until every variant that any trial kills is killed, and at
// least n of them.
func cover(all []trial, killed []bool, n int) []Test {
	var tests []Test
	for _, t := range all {
		fresh := slices.ContainsFunc(span(len(killed), 0, len(killed)), func(i int) bool { return t.kills[i] && !killed[i] })
		if !fresh && len(tests) >= n {
			continue
		}
		tests = append(tests, t.test)
		for i, kill := range t.kills {
			killed[i] = killed[i] || kill
		}
	}
	return tests
}
