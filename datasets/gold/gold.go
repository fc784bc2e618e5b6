// Package gold runs the solutions that come with training problems: a problem
// whose own solution fails, or passes only now and then, teaches nothing.
package gold

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/coderl/cr/datasets/rl"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// runs is how often a solution runs: one that is not always right is flaky.
const runs = 2

// Verifier is an [rl.Verifier] that runs solutions in a sandbox.
type Verifier struct {
	judge    *judge.Judge
	language string
}

// New returns a verifier of programs in a language of the sandbox.
func New(exec sandbox.Executor, language string) *Verifier {
	return &Verifier{judge: judge.New(exec), language: language}
}

// Verify runs a solution on all its tests, twice.
func (v *Verifier) Verify(ctx context.Context, g rl.Gold) (rl.Verdict, error) {
	task, err := taskOf(g.GroundTruth)
	if err != nil {
		return rl.Verdict{Reason: rl.CannotVerify, Detail: err.Error()}, nil
	}
	code := unfence(g.Solution)
	task.ID, task.Language, task.Mode = fmt.Sprintf("row %d", g.Row), v.language, judge.Tokens
	task.Function = task.Method != "" && !hasSolution.MatchString(code)
	passed, detail := 0, ""
	for range runs {
		report, err := v.judge.Judge(ctx, code, task)
		if err != nil {
			return rl.Verdict{}, err
		}
		if report.Verdict == sandbox.AC {
			passed++
		} else {
			detail = describe(report)
		}
	}
	switch passed {
	case runs:
		return rl.Verdict{}, nil
	case 0:
		return rl.Verdict{Reason: rl.GoldFails, Detail: detail}, nil
	default:
		return rl.Verdict{Reason: rl.GoldFlaky, Detail: fmt.Sprintf("passed %d of %d times; then %s", passed, runs, detail)}, nil
	}
}

// hasSolution finds LeetCode's form, whose function is a method.
var hasSolution = regexp.MustCompile(`(?m)^class Solution\b`)

// unfence takes the program out of its fence.
func unfence(text string) string {
	_, body, ok := strings.Cut(text, "\n")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(body, "```")
}

// describe is the first failing test in a line.
func describe(report judge.Report) string {
	for i, test := range report.Tests {
		if test.Verdict != sandbox.AC {
			return fmt.Sprintf("test %d: %s %s", i+1, test.Verdict, test.Detail)
		}
	}
	return string(report.Verdict)
}
