// Package reward says what an answer is worth: by the tests of its problem, with
// the judge and the extraction rules of cr eval, or by a program or service of
// the user's own.
//
// An error means that the answer could not be judged for reasons of ours, and is
// never a score: what becomes of such an answer is the caller's policy.
package reward

import (
	"context"
	"errors"
	"strings"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/eval"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// Answer is a finished conversation on a problem.
type Answer struct {
	Problem datasets.Problem
	Sample  int // among the answers to the problem
	Episode agent.Episode
}

// Score is what an answer is worth, and why.
type Score struct {
	Reward  float64           // Code and all bonuses
	Code    float64           // correctness alone, or the user's own score
	Bonus   float64           // for tool calls
	Format  float64           // for holding a program
	Verdict sandbox.Verdict   // of the tests; "" where a reward of one's own took their place
	Passed  int               // tests
	Tests   []sandbox.Verdict // of each test
	Program string
	By      string             // the step of the extraction rule that found it
	Cut     bool               // a budget ended the answer, or its thinking never ended
	Metrics map[string]float64 // of the user's own reward
}

// Scorer gives scores. It is safe for concurrent use.
type Scorer interface {
	Score(ctx context.Context, a Answer) (Score, error)
}

// ErrBroken marks errors that every later answer would meet too: a reward of
// one's own that does not keep to the protocol.
var ErrBroken = errors.New("the reward is unusable")

// New returns the recipe's scorer: the tests', by the judge, or the user's own.
func New(r preset.Reward, j eval.Judge, p Patience) Scorer {
	base := scorer{recipe: r}
	if r.Own == "" {
		return byTests{base, j}
	}
	return byOwn{base, newCaller(r), p}
}

// scorer is what every kind of reward does with an answer.
type scorer struct{ recipe preset.Reward }

// read takes the program out of an answer.
func (s scorer) read(a Answer) Score {
	e := eval.Extract(eval.Rule(s.recipe.Extract), eval.AnswerOf(a.Episode))
	score := Score{Program: e.Code, By: e.Step}
	score.Cut = e.Unclosed || a.Episode.Finish == agent.FinishLength || a.Episode.Finish == agent.FinishPromptTooLong
	return score
}

// finish adds the bonuses: for tool calls as the recipe's compute_reward has it,
// whether they helped or not, and for an answer that holds a program.
func (s scorer) finish(score *Score, a Answer) {
	score.Bonus = float64(min(a.Episode.ToolCalls, s.recipe.MaxCalls)) * s.recipe.Bonus
	if strings.TrimSpace(score.Program) != "" {
		score.Format = s.recipe.Format
	}
	score.Reward = score.Code + score.Bonus + score.Format
}

// byTests scores by the problem's tests.
type byTests struct {
	scorer
	judge eval.Judge
}

// Score implements [Scorer].
func (b byTests) Score(ctx context.Context, a Answer) (Score, error) {
	score := b.read(a)
	if strings.TrimSpace(score.Program) == "" {
		score.Verdict = sandbox.NoCode
		if a.Episode.Finish == agent.FinishLength || a.Episode.Finish == agent.FinishPromptTooLong {
			score.Verdict = sandbox.Truncated
		}
		b.finish(&score, a)
		return score, nil
	}
	report, err := b.judge.Judge(ctx, score.Program, eval.TaskOf(a.Problem, score.Program, judge.Strict))
	if err != nil {
		return score, err
	}
	score.Verdict = report.Verdict
	for _, t := range report.Tests {
		score.Tests = append(score.Tests, t.Verdict)
		if t.Verdict == sandbox.AC {
			score.Passed++
		}
	}
	switch {
	case report.Verdict == sandbox.AC:
		score.Code = 1
	case b.recipe.Score == "share" && len(score.Tests) > 0:
		score.Code = float64(score.Passed) / float64(len(score.Tests))
	}
	b.finish(&score, a)
	return score, nil
}
