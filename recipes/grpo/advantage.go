package grpo

import "math"

// advantageEpsilon keeps a group of equal rewards from dividing by zero, as in
// verl's compute_grpo_outcome_advantage.
const advantageEpsilon = 1e-6

// Advantages are the rewards relative to their groups: A = R − mean, divided by
// the group's standard deviation (of a sample, n−1) plus 1e-6 where byStd is
// set, undivided as in Dr.GRPO (arXiv 2503.20783) where not. group[i] names the
// group of rewards[i]. As in verl, a group of one has mean 0 and deviation 1. One
// of equal rewards has no advantage, where verl's has what rounding leaves of it.
func Advantages(rewards []float64, group []int, byStd bool) []float64 {
	members := map[int][]float64{}
	for i, g := range group {
		members[g] = append(members[g], rewards[i])
	}
	advantages := make([]float64, len(rewards))
	for i, g := range group {
		if len(members[g]) > 1 && uniform(members[g]) {
			continue
		}
		mean, std := moments(members[g])
		advantages[i] = rewards[i] - mean
		if byStd {
			advantages[i] /= std + advantageEpsilon
		}
	}
	return advantages
}

// moments are a group's mean and standard deviation.
func moments(rewards []float64) (mean, std float64) {
	n := float64(len(rewards))
	if n == 1 {
		return 0, 1
	}
	for _, r := range rewards {
		mean += r / n
	}
	for _, r := range rewards {
		std += (r - mean) * (r - mean) / (n - 1)
	}
	return mean, math.Sqrt(std)
}

// uniform tells whether a group's rewards are all the same: it teaches nothing.
func uniform(rewards []float64) bool {
	for _, r := range rewards {
		if r != rewards[0] {
			return false
		}
	}
	return true
}
