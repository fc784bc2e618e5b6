package tinytasks

import "slices"

// Mistake is a way to get a recipe wrong.
type Mistake string

// The mistakes.
const (
	Dropped  Mistake = "drop"       // a clause is left out
	Swapped  Mistake = "swap"       // two clauses change places
	Other    Mistake = "other"      // a clause is taken for one like it
	OffByOne Mistake = "off by one" // a parameter is one too large
)

// variants are the recipes near r, each one mistake away.
func (g grammar) variants(r Recipe) []Variant {
	var all []Variant
	add := func(how Mistake, steps []Clause, end *finish) {
		v := Recipe{Functional: r.Functional, Reads: r.Reads, Steps: steps, Finish: end, meant: r.Finish}
		if v.valid() {
			all = append(all, Variant{Recipe: v, How: how})
		}
	}
	for i, c := range r.Steps {
		add(Dropped, slices.Delete(slices.Clone(r.Steps), i, i+1), r.Finish)
		for _, name := range c.step.near {
			if s := g.steps[name]; s.param == c.step.param {
				add(Other, with(r.Steps, i, Clause{s, c.args, &c}), r.Finish)
			}
		}
		if c.step.param == small || c.step.param == threshold {
			add(OffByOne, with(r.Steps, i, Clause{c.step, args{k: c.args.k + 1}, &c}), r.Finish)
		}
		if i > 0 {
			swapped := slices.Clone(r.Steps)
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
			add(Swapped, swapped, r.Finish)
		}
	}
	for _, name := range r.Finish.near {
		add(Other, r.Steps, g.finishes[name])
	}
	return all
}

func with(steps []Clause, i int, c Clause) []Clause {
	out := slices.Clone(steps)
	out[i] = c
	return out
}
