package grpo

import (
	"math"

	"github.com/coderl/cr/recipes/checkpoint"
)

// surely is the number of standard errors that a rise of the reward must have to
// be told of: a two-sided 95 % interval.
const surely = 1.96

// agreement compares what training pays for with what the evaluation finds. A
// reward that can be earned without solving problems rises while pass@1 does not.
//
// The base is the first validation and the first step after it, whose answers the
// very weights wrote that were validated.
type agreement struct {
	Validated bool             `json:"validated"` // the base has its pass@1
	PassAt1   checkpoint.Exact `json:"pass_at_1"`
	Base      tally            `json:"base"`
	Since     tally            `json:"since"` // steps after the last validation
}

// tally sums up the mean rewards of groups, which are independent of one another
// as the answers within a group are not.
type tally struct {
	Groups  int              `json:"groups"`
	Sum     checkpoint.Exact `json:"sum"`
	Squares checkpoint.Exact `json:"squares"`
}

// practised takes up a step's groups.
func (a *agreement) practised(step tally) {
	switch {
	case !a.Validated:
	case a.Base.Groups == 0:
		a.Base = step
	default:
		a.Since.Groups += step.Groups
		a.Since.Sum += step.Sum
		a.Since.Squares += step.Squares
	}
}

// gains are how far two figures have come since the base.
type gains struct {
	from, to       tally
	passFrom, pass float64
}

// validated takes up a validation; ok is false while there is nothing to compare.
func (a *agreement) validated(pass float64) (g gains, ok bool) {
	if !a.Validated {
		a.Validated, a.PassAt1 = true, checkpoint.Exact(pass)
		return g, false
	}
	g = gains{from: a.Base, to: a.Since, passFrom: float64(a.PassAt1), pass: pass}
	a.Since = tally{}
	return g, g.from.Groups > 1 && g.to.Groups > 1
}

func (g gains) reward() float64 { return g.to.mean() - g.from.mean() }

// disagree tells whether rewards surely rose while pass@1 did not.
func (g gains) disagree() bool {
	return g.reward() > surely*math.Hypot(g.from.standardError(), g.to.standardError()) && g.pass <= g.passFrom
}

func (g gains) figures() []figure {
	return []figure{number("reward/gain", g.reward()), number("reward/pass_gain", g.pass-g.passFrom)}
}

func (t *tally) add(reward float64) {
	t.Groups++
	t.Sum += checkpoint.Exact(reward)
	t.Squares += checkpoint.Exact(reward * reward)
}

func (t tally) mean() float64 { return float64(t.Sum) / float64(t.Groups) }

// standardError is that of the mean: s/√n, s with n−1.
func (t tally) standardError() float64 {
	n := float64(t.Groups)
	return math.Sqrt(max(0, float64(t.Squares)-float64(t.Sum)*t.mean()) / (n - 1) / n)
}
