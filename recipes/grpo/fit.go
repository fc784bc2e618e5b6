package grpo

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/eval"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/runtime/chat"
)

// ErrOverLong: a prompt is longer than the recipe allows.
var ErrOverLong = errors.New("longer than data.max_prompt")

// Fit leaves out the problems whose prompt, with the tools, is longer than the
// recipe's data.max_prompt, and says how many; or, with data.over_long error,
// names the first. Programs on problems without a time limit of their own get
// the recipe's.
func Fit(ctx context.Context, set datasets.Set, text *chat.Model, r preset.RL) (fitted datasets.Set, left int, err error) {
	lengths := make([]int, len(set.Problems))
	var tools []chat.Tool
	if r.Tools.Enable {
		tools = agent.Interpreter{}.Tools()
	}
	thinking := true
	options := chat.RenderOptions{AddGenerationPrompt: true, Thinking: &thinking}
	err = eachProblem(ctx, len(set.Problems), func(i int) error {
		prompt, err := text.Render(eval.Opening(set.Problems[i], r.Tools.Enable), tools, options)
		if err != nil {
			return fmt.Errorf("%s, problem %s: %w", set.Name, set.Problems[i].ID, err)
		}
		lengths[i] = len(prompt.IDs)
		return nil
	})
	if err != nil {
		return set, 0, err
	}
	fitted = set
	fitted.Problems = nil
	for i, p := range set.Problems {
		if lengths[i] > r.Data.MaxPrompt {
			if r.Data.OverLong == "error" {
				return set, 0, fmt.Errorf("%s, problem %s: a prompt of %d tokens is %w %d", set.Name, p.ID, lengths[i], ErrOverLong, r.Data.MaxPrompt)
			}
			left++
			continue
		}
		if p.Limits.CPU == 0 {
			p.Limits.CPU = time.Duration(r.Reward.Timeout) * time.Second
		}
		fitted.Problems = append(fitted.Problems, p)
	}
	return fitted, left, nil
}

// eachProblem does something for n problems, several at a time, and returns the
// error of the first of those that fail.
func eachProblem(ctx context.Context, n int, do func(i int) error) error {
	errs := make([]error, n)
	next := make(chan int)
	var workers sync.WaitGroup
	for range goruntime.NumCPU() {
		workers.Go(func() {
			for i := range next {
				errs[i] = do(i)
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}
