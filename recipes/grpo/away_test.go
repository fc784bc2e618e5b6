package grpo

import (
	"errors"
	"strings"
	"testing"

	"github.com/coderl/cr/recipes/reward"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/remote"
)

// A judge that is away ends the run, also where some answers have no program and
// need none; failures of the answers' own would come again, and do not.
func TestJudgeIsAway(t *testing.T) {
	answer := func(v sandbox.Verdict) *sample { return &sample{score: reward.Score{Verdict: v}} }
	lost := func(err error) *sample { return &sample{failure: err, fate: dropped, question: "q"} }
	away, unfit := errors.New("503"), remote.ErrUnfit
	for name, c := range map[string]struct {
		fresh []*sample
		drop  bool // ends with reward.infra drop
	}{
		"all away":                {[]*sample{lost(away), lost(away)}, true},
		"all unfit":               {[]*sample{lost(unfit), lost(unfit)}, true},
		"the rest has no program": {[]*sample{lost(away), answer(sandbox.NoCode), answer(sandbox.Truncated)}, true},
		"unfit, and no program":   {[]*sample{lost(unfit), answer(sandbox.NoCode)}, false},
		"one is judged":           {[]*sample{lost(away), lost(away), answer(sandbox.WA)}, false},
		"no program at all":       {[]*sample{answer(sandbox.NoCode), answer(sandbox.Truncated)}, false},
		"a broken problem":        {[]*sample{answer(sandbox.InvalidTask), answer(sandbox.InvalidTask)}, false},
	} {
		for _, policy := range []string{"drop", "zero"} {
			var told []string
			r := &runner{config: Config{Note: func(line string) { told = append(told, line) }}}
			r.config.Recipe.Reward.Infra = policy
			var out round
			err := r.countFailures(&out, c.fresh)
			if ends := errors.Is(err, errJudging); ends != (c.drop && policy == "drop") {
				t.Errorf("%s, %s: %v", name, policy, err)
			}
			if failed := strings.Count(name, "away")+strings.Count(name, "unfit") > 0; failed && out.infra == 0 || failed && err == nil && len(told) != 1 {
				t.Errorf("%s, %s: %d counted, told %q", name, policy, out.infra, told)
			}
		}
	}
}
