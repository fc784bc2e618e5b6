package grpo

import (
	"context"
	"fmt"
	"slices"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/recipes/reward"
	"github.com/coderl/cr/sandbox"
)

// mostRounds bounds the rounds of resampling in a step, as DAPO's
// max_num_gen_batches does.
const mostRounds = 10

// round is what a step's sampling came to.
type round struct {
	samples  []*sample // by group, then by index
	lap      lap
	sampled  int       // answers made, those of replaced groups included
	uniform  int       // groups of equal rewards among all that were sampled
	groups   int       // sampled in all
	worth    []float64 // rewards of all answers that were sampled
	problems int       // drawn
	means    tally     // of the groups' rewards, replaced groups included
	infra    int       // answers that could not be judged, those of replaced groups included
	invalid  int       // the same for problems that cannot be
}

// practise samples a step's answers. With grpo.uniform resample, groups whose
// answers are all worth the same make way for other problems.
func (r *runner) practise(ctx context.Context) (round, error) {
	want := r.config.Recipe.Rollout.Prompts
	var out round
	kept := 0
	for n := 0; n < mostRounds && kept < want; n++ {
		places := r.plan.draw(r.state.Drawn+out.problems, want-kept)
		problems := make([]datasets.Problem, len(places))
		for i, at := range places {
			problems[i] = r.config.Train.Problems[at]
		}
		fresh, l, err := r.sampler.sample(ctx, problems, r.state.Step, out.groups)
		if err != nil {
			return out, err
		}
		out.problems += len(problems)
		out.groups += len(problems)
		out.sampled += len(fresh)
		out.lap.generate += l.generate
		out.lap.judge += l.judge
		if err := r.countFailures(&out, fresh); err != nil {
			return out, err
		}
		for group := range groupsOf(fresh) {
			rewards := rewardsOf(group)
			out.worth = append(out.worth, rewards...)
			if len(rewards) > 0 {
				out.means.add(mean(rewards))
			}
			same := len(rewards) < 2 || uniform(rewards)
			if same && r.config.Recipe.Rollout.Group > 1 {
				out.uniform++
				if r.config.Recipe.GRPO.Uniform == "resample" {
					continue
				}
			}
			kept++
			out.samples = append(out.samples, group...)
		}
	}
	if kept < want {
		r.config.note("step %d: %d of %d groups have answers of different worth after %d rounds; going on with those", r.state.Step+1, kept, want, mostRounds)
	}
	return out, nil
}

// groupsOf cuts samples, which stand by group, into groups.
func groupsOf(all []*sample) func(yield func([]*sample) bool) {
	return func(yield func([]*sample) bool) {
		for from := 0; from < len(all); {
			to := from
			for to < len(all) && all[to].group == all[from].group {
				to++
			}
			if !yield(all[from:to]) {
				return
			}
			from = to
		}
	}
}

// rewardsOf are the rewards that enter a group's mean.
func rewardsOf(group []*sample) []float64 {
	var rewards []float64
	for _, s := range group {
		if s.fate != dropped {
			rewards = append(rewards, s.score.Reward)
		}
	}
	return rewards
}

// weigh gives every sample its advantage. A group of which too few answers are
// left to compare, and with grpo.uniform drop one of equal rewards, leaves the
// loss.
func (r *runner) weigh(all []*sample) {
	g := r.config.Recipe.GRPO
	for group := range groupsOf(all) {
		rewards := rewardsOf(group)
		switch {
		case len(rewards) < 2 && r.config.Recipe.Rollout.Group > 1:
			leave(group, dropped)
			continue
		case g.Uniform == "drop" && uniform(rewards):
			leave(group, idle)
			continue
		}
		advantages := Advantages(rewards, make([]int, len(rewards)), g.NormByStd)
		for _, s := range group {
			if s.fate != dropped {
				s.advantage, advantages = advantages[0], advantages[1:]
			}
		}
	}
}

// leave has a group's answers leave the loss, unless they have already.
func leave(group []*sample, why fate) {
	for _, s := range group {
		if s.fate != dropped {
			s.fate = why
		}
	}
}

// countFailures counts answers that could not be judged, and tells of the first.
// Where that is all of a round, or all of it that had to be judged and not for
// reasons of the answers' own, going on would practise for nothing.
func (r *runner) countFailures(out *round, fresh []*sample) error {
	failed, judged, away, first := 0, 0, false, error(nil)
	for _, s := range fresh {
		switch {
		case s.failure != nil:
			failed++
			away = away || !reward.OfAnswer(s.failure)
			if first == nil {
				first = fmt.Errorf("answer %d to %s: %w", s.index, s.question, s.failure)
			}
		case s.score.Verdict == sandbox.InvalidTask:
			out.invalid++
		case s.score.Verdict != sandbox.NoCode && s.score.Verdict != sandbox.Truncated:
			judged++
		}
	}
	out.infra += failed
	policy := r.config.Recipe.Reward.Infra
	switch {
	case policy == "drop" && (failed == len(fresh) || away && judged == 0):
		return fmt.Errorf("%w: none of %d answers could be: %w", errJudging, failed, first)
	case failed > 0:
		r.config.note("step %d: %d of %d answers could not be judged (reward.infra %s): %v", r.state.Step+1, failed, len(fresh), policy, first)
	}
	return nil
}

// idleSteps is how many steps in a row without anything to learn from bring
// advice.
const idleSteps = 5

// tellIdle tells of a step whose rewards teach nothing.
func (r *runner) tellIdle(p round, m updated) {
	teaches := func(s *sample) bool { return s.fate == learnt && s.advantage != 0 }
	if slices.ContainsFunc(p.samples, teaches) {
		r.state.Idle = 0
		return
	}
	r.state.Idle++
	did := "no weight was changed"
	if m.updates > 0 {
		did = "the update has no part of theirs"
	}
	r.config.note("step %d: nothing to learn from: in each of %d groups all answers are worth the same, or are left out; %s", r.state.Step+1, p.groups, did)
	if r.state.Idle%idleSteps == 0 {
		r.config.note("%d steps in a row had nothing to learn from, see rollouts/%d.jsonl: take problems that the model solves sometimes, more answers to each (rollout.group), a higher rollout.temperature, partial credit (reward.score=share), or grpo.uniform=resample", r.state.Idle, r.state.Step+1)
	}
}
