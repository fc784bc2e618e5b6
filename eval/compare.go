package eval

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/coderl/cr/internal/amount"
)

// ErrDifferentData: two runs are not over the same problems.
var ErrDifferentData = errors.New("the runs are not over the same problems")

// CompareOptions steer a comparison.
type CompareOptions struct {
	Confidence float64 // of the interval; 0: 0.95
	// Intersect compares what two different sets of problems have in common.
	Intersect bool
}

// Comparison sets run B against run A on the same problems. A problem's score is
// the share of its judged samples that passed, so the mean is pass@1.
type Comparison struct {
	A        string  `json:"a"`
	B        string  `json:"b"`
	Problems int     `json:"problems"` // judged in both
	ScoreA   float64 `json:"pass_at_1_a"`
	ScoreB   float64 `json:"pass_at_1_b"`
	// Difference is B − A, paired by problem: its standard error and interval
	// come from the problems' differences, in which their difficulty cancels.
	Difference Estimate `json:"difference"`
	Confidence float64  `json:"confidence"`
	// Detectable is the smallest true difference that such a comparison finds in
	// four of five cases: (z(1−α/2) + z(0.8)) × the standard error. When all
	// problems changed alike it is the share of problems that may behave
	// otherwise for all that is known, 1 − (α/2)^(1/m). Null for one problem.
	Detectable *float64 `json:"detectable"`
	McNemar    *McNemar `json:"mcnemar"` // null unless both runs have one sample a problem
	Gained     []Flip   `json:"gained"`  // problems that B solves more often, largest change first
	Lost       []Flip   `json:"lost"`
	Notices    []string `json:"notices"`
}

// Flip is a problem whose score changed.
type Flip struct {
	QuestionID string  `json:"question_id"`
	A          float64 `json:"a"`
	B          float64 `json:"b"`
}

// McNemar is the exact test of two runs with one sample a problem: under equal
// strength, each problem that only one of them solves is a fair coin.
type McNemar struct {
	OnlyA int     `json:"only_a"`
	OnlyB int     `json:"only_b"`
	P     float64 `json:"p"` // two-sided
}

// Compare compares two finished runs.
func Compare(a, b Finished, o CompareOptions) (Comparison, error) {
	c := Comparison{A: a.Path, B: b.Path, Confidence: cmp.Or(o.Confidence, reportConfidence), Gained: []Flip{}, Lost: []Flip{}}
	if !(c.Confidence > 0 && c.Confidence < 1) { // also not NaN
		return c, fmt.Errorf("confidence %v: must lie between 0 and 1", c.Confidence)
	}
	if !o.Intersect {
		if err := sameProblems(a, b); err != nil {
			return c, err
		}
	}
	ids, unjudged := common(a, b)
	if len(ids) == 0 {
		return c, fmt.Errorf("%s and %s: no problem was judged in both", a.Path, b.Path)
	}
	c.Problems = len(ids)
	c.Notices = comparisonNotices(a, b, len(ids), unjudged)
	c.score(a, b, ids)
	return c, nil
}

// sameProblems refuses runs over different data.
func sameProblems(a, b Finished) error {
	if a.Results.Data.SHA256 != b.Results.Data.SHA256 {
		return fmt.Errorf("%w: %s has data %s (%.12s), %s has %s (%.12s); ask for the intersection to compare the problems with equal ids",
			ErrDifferentData, a.Path, a.Results.Data.Name, a.Results.Data.SHA256, b.Path, b.Results.Data.Name, b.Results.Data.SHA256)
	}
	for _, pair := range [][2]Finished{{a, b}, {b, a}} {
		for _, id := range slices.Sorted(maps.Keys(pair[0].scores)) {
			if _, ok := pair[1].scores[id]; !ok {
				return fmt.Errorf("%w: %s is in %s, not in %s; ask for the intersection to compare the problems of both",
					ErrDifferentData, id, pair[0].Path, pair[1].Path)
			}
		}
	}
	return nil
}

// common lists the problems judged in both runs, and counts those that are in
// both but have no judged sample in one.
func common(a, b Finished) (ids []string, unjudged int) {
	for _, id := range slices.Sorted(maps.Keys(a.scores)) {
		other, ok := b.scores[id]
		switch {
		case !ok:
		case a.scores[id].judged == 0 || other.judged == 0:
			unjudged++
		default:
			ids = append(ids, id)
		}
	}
	return ids, unjudged
}

// score fills in everything that is computed from the paired problems.
func (c *Comparison) score(a, b Finished, ids []string) {
	differences, as, bs := make([]float64, len(ids)), make([]float64, len(ids)), make([]float64, len(ids))
	var test McNemar
	single := true
	for i, id := range ids {
		sa, sb := a.scores[id], b.scores[id]
		ra, rb := sa.rate(), sb.rate()
		as[i], bs[i], differences[i] = ra, rb, rb-ra
		single = single && sa.planned == 1 && sb.planned == 1
		switch flip := (Flip{id, ra, rb}); {
		case rb > ra:
			c.Gained = append(c.Gained, flip)
			test.OnlyB++
		case rb < ra:
			c.Lost = append(c.Lost, flip)
			test.OnlyA++
		}
	}
	c.ScoreA, c.ScoreB = mean(as), mean(bs)
	for _, flips := range [][]Flip{c.Gained, c.Lost} {
		slices.SortStableFunc(flips, func(x, y Flip) int { return cmp.Compare(math.Abs(y.B-y.A), math.Abs(x.B-x.A)) })
	}
	if single {
		test.P = mcnemarP(test.OnlyA, test.OnlyB)
		c.McNemar = &test
	}
	c.interval(differences)
}

func (c *Comparison) interval(differences []float64) {
	c.Difference = Estimate{Value: mean(differences), Stderr: standardError(differences)}
	if len(differences) < 2 {
		c.Difference.Low, c.Difference.High = -1, 1
		return
	}
	c.Difference.Low, c.Difference.High = resampledInterval(differences, (1-c.Confidence)/2)
	detectable := (normalQuantile((1+c.Confidence)/2) + normalQuantile(0.8)) * *c.Difference.Stderr
	if allEqual(differences) {
		detectable = 1 - math.Pow((1-c.Confidence)/2, 1/float64(len(differences)))
	}
	c.Detectable = &detectable
}

// mcnemarP is the exact two-sided p-value of b against c discordant pairs:
// min(1, 2 Σ_{i ≤ min(b,c)} C(b+c, i) / 2^(b+c)).
func mcnemarP(b, c int) float64 {
	n := float64(b + c)
	sum := 0.0
	for i := range min(b, c) + 1 {
		sum += math.Exp(logChoose(n, float64(i)) - n*math.Ln2)
	}
	return min(1, 2*sum)
}

func logChoose(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return a - b - c
}

// comparisonNotices say what makes two runs less than comparable.
func comparisonNotices(a, b Finished, shared, unjudged int) []string {
	notices := []string{}
	if a.Results.Data.Name == "bundled" || b.Results.Data.Name == "bundled" {
		notices = append(notices, "bundled problems: not LiveCodeBench")
	}
	if shared+unjudged < len(a.scores) || shared+unjudged < len(b.scores) {
		notices = append(notices, fmt.Sprintf("%s in common, of %d and %d", amount.Of(shared+unjudged, "problem"), len(a.scores), len(b.scores)))
	}
	if unjudged > 0 {
		notices = append(notices, fmt.Sprintf("%s left out: all samples of one run are infra_error", amount.Of(unjudged, "problem")))
	}
	for _, text := range differingSettings(a, b, "model") {
		notices = append(notices, "the runs differ in "+text)
	}
	return notices
}

// differingSettings names the settings in which two runs differ, with both
// values, but for those that are meant to.
func differingSettings(a, b Finished, meant ...string) []string {
	names := maps.Clone(a.settings)
	maps.Copy(names, b.settings)
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, now := compact(a.settings[name]), compact(b.settings[name])
		if !slices.Contains(meant, name) && !bytes.Equal(was, now) {
			differ = append(differ, fmt.Sprintf("%s: %s and %s", name, cmp.Or(string(was), "(not set)"), cmp.Or(string(now), "(not set)")))
		}
	}
	return differ
}
