package grpo

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"testing"
)

const oddFile = "testdata/odd_cases"

// oddCases lie at the edges: groups of one and of equal rewards, one token left of
// a whole mini-batch, sequences of which nothing is left, clips that leave next to
// nothing or everything, ratios of 1 to the bit and beyond all bounds, no advantage.
func oddCases() []mathCase {
	var all []mathCase
	for _, byStd := range []bool{true, false} {
		all = append(all,
			mathCase{Kind: "advantages", ByStd: byStd, Rewards: []float64{0.7}, Group: []int{0}},
			mathCase{Kind: "advantages", ByStd: byStd, Rewards: []float64{-2, 0, 3}, Group: []int{0, 1, 2}},
			mathCase{Kind: "advantages", ByStd: byStd, Rewards: []float64{1e6, -1e6}, Group: []int{0, 0}},
			mathCase{Kind: "advantages", ByStd: byStd, Rewards: []float64{0.5, 0.5 + 1e-9, 2, 1}, Group: []int{0, 0, 1, 0}},
			mathCase{Kind: "advantages", ByStd: byStd, Rewards: []float64{0.25, 1, 0.25, 1, 0.25}, Group: []int{3, 9, 3, 9, 3}},
		)
	}
	masks := map[string][][]float64{
		"one token":         {{0, 0, 0}, {0, 1, 0}, {0, 0, 0}},
		"lengths 0, 1, all": {{0, 0, 0}, {1, 0, 0}, {1, 1, 1}},
		"holes":             {{1, 0, 1}, {0, 1, 1}, {1, 1, 0}},
	}
	for _, name := range []string{"one token", "lengths 0, 1, all", "holes"} {
		for i, aggregate := range []string{"token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm"} {
			all = append(all, mathCase{
				Kind: "loss", Aggregate: aggregate, KLType: []string{"low_var_kl", "abs", "low_var_kl+", "kl"}[i],
				ClipLow: []float64{0.2, 1e-9, 0.999, 0.2}[i], ClipHigh: []float64{0.28, 1e-9, 10, 0.28}[i], DualClip: []float64{3, 1.0001, 1e6, 3}[i],
				KLCoef: []float64{0.001, 100, 0.1, 0.5}[i], EntCoef: []float64{0, 10, 0.01, 0.01}[i],
				Advantage: []float64{-1.5, 0, 2},
				LogP:      [][]float64{{-1, -30, -0.5}, {-1, -0.5, -2}, {0, -1e-9, -700}},
				Old:       [][]float64{{-1, -1, -5}, {-1.5, -3, -2}, {0, -25, -1}},
				Reference: [][]float64{{-1, -2, -40}, {-1, -0.25, -2}, {-3, -1e-9, -690}},
				Entropy:   [][]float64{{0, 1, 2}, {0.5, 0.25, 0}, {3, 0, 1}},
				Mask:      masks[name],
			})
		}
	}
	return all
}

// Cases at the edges are those of a computation in PyTorch that shares no code
// with verl's.
func TestOddCases(t *testing.T) {
	cases := oddCases()
	if *update {
		python := os.Getenv("CR_TEST_PYTHON")
		if python == "" {
			t.Skip("CR_TEST_PYTHON names no Python with torch")
		}
		cmd := exec.CommandContext(t.Context(), python, oddFile+".py")
		cmd.Stdin, cmd.Stderr = bytes.NewReader(lines(t, cases)), os.Stderr
		golden, err := cmd.Output()
		check(t, err)
		write(t, oddFile+".golden.jsonl", golden)
	}
	compareMath(t, cases, parseLines[mathAnswer](t, read(t, oddFile+".golden.jsonl")))
}

// A group of equal rewards has no advantage to the bit, whatever rounding makes
// of their mean.
func TestEqualRewardsHaveNoAdvantage(t *testing.T) {
	for _, r := range []float64{0.1, 1. / 3, 0.7, 1e6 / 3, -0.015} {
		for n := 2; n < 12; n++ {
			rewards := make([]float64, n)
			for i := range rewards {
				rewards[i] = r
			}
			for _, byStd := range []bool{true, false} {
				for _, a := range Advantages(rewards, make([]int, n), byStd) {
					if a != 0 {
						t.Fatalf("%d rewards of %v: advantage %g", n, r, a)
					}
				}
			}
		}
	}
}

// Of a group whose other answers were all dropped one is left, which has nobody
// to be compared with; where groups are of one by the recipe, it stays.
func TestOneAnswerLeft(t *testing.T) {
	for group, want := range map[int]fate{1: learnt, 3: dropped} {
		r := &runner{}
		r.config.Recipe.Rollout.Group = group
		r.config.Recipe.GRPO.NormByStd = true
		one := &sample{}
		one.score.Reward = 0.5
		all := []*sample{one}
		for range group - 1 {
			all = append(all, &sample{fate: dropped, index: len(all)})
		}
		r.weigh(all)
		if one.fate != want || want == learnt && math.Abs(one.advantage-0.5) > 1e-6 {
			t.Errorf("one left of a group of %d: fate %q, advantage %v", group, one.fate, one.advantage)
		}
	}
}
