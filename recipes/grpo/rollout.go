package grpo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/eval"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/recipes/reward"
	"github.com/coderl/cr/runtime/chat"
)

// errTool marks a tool call that could not run for reasons of ours.
var errTool = errors.New("tool call")

// errJudging marks the end of a run whose answers cannot be judged.
var errJudging = errors.New("judge")

// markedTools tells failures of tools from those of the engine, and how long an
// answer's calls took, which come one after another.
type markedTools struct {
	agent.Toolbox
	spent *time.Duration
}

// Call implements [agent.Toolbox].
func (m markedTools) Call(ctx context.Context, call chat.ToolCall, limit time.Duration) (agent.ToolReply, error) {
	began := time.Now()
	reply, err := m.Toolbox.Call(ctx, call, limit)
	*m.spent += time.Since(began)
	if err != nil {
		err = fmt.Errorf("%w: %w", errTool, err)
	}
	return reply, err
}

// sampler makes a step's answers and has them judged.
type sampler struct {
	recipe      preset.RL
	endpoint    agent.Endpoint
	tools       agent.Toolbox // nil: none
	scorer      reward.Scorer
	concurrency int
	judges      int
	tell        func(done, of int, s *sample) // of each answer that is judged, one at a time
}

// budgets are the recipe's, for practice and for validation.
func budgets(r preset.RL) agent.Budgets {
	seconds := time.Duration(r.Tools.Timeout) * time.Second
	turns := r.Tools.MaxTurns
	if !r.Tools.Enable {
		turns = 1
	}
	return agent.Budgets{
		Tokens: r.Rollout.MaxResponse, Turns: turns, Calls: math.MaxInt32, PerTurn: r.Tools.Parallel,
		ToolCall: seconds, ToolTotal: time.Duration(turns) * time.Duration(r.Tools.Parallel) * seconds, ToolOutput: r.Tools.Output,
	}
}

// lap is how long a round took: until the last answer was written, and until
// the last of them was judged after that.
type lap struct{ generate, judge time.Duration }

// sample answers problems, group by group. step and first, the number of the
// first group in it, key the draws: a problem that comes again draws anew.
// Answers are judged while others are still being written.
func (s sampler) sample(ctx context.Context, problems []datasets.Problem, step, first int) ([]*sample, lap, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	all := make([]*sample, 0, len(problems)*s.recipe.Rollout.Group)
	for g := range problems {
		for i := range s.recipe.Rollout.Group {
			all = append(all, &sample{group: first + g, index: i, question: problems[g].ID})
		}
	}
	problemOf := func(x *sample) datasets.Problem { return problems[x.group-first] }
	began := time.Now()
	// Both hold all answers, so that no stage ever waits for a later one.
	jobs, written := make(chan *sample, len(all)), make(chan *sample, len(all))
	for _, x := range all {
		jobs <- x
	}
	close(jobs)
	var l lap
	var writing, judging sync.WaitGroup
	for range min(s.concurrency, len(all)) {
		writing.Go(func() {
			for x := range jobs {
				if ctx.Err() == nil {
					s.write(ctx, cancel, x, problemOf(x), step)
					written <- x
				}
			}
		})
	}
	var mu sync.Mutex
	done := 0
	for range min(s.judges, len(all)) {
		judging.Go(func() {
			for x := range written {
				if ctx.Err() == nil {
					s.judge(ctx, cancel, x, problemOf(x))
					mu.Lock()
					done++
					s.tell(done, len(all), x)
					mu.Unlock()
				}
			}
		})
	}
	writing.Wait()
	l.generate = time.Since(began)
	close(written)
	judging.Wait()
	l.judge = time.Since(began) - l.generate
	return all, l, context.Cause(ctx)
}

// write samples one conversation.
func (s sampler) write(ctx context.Context, cancel func(error), x *sample, p datasets.Problem, step int) {
	r := s.recipe.Rollout
	opening := agent.Opening{
		Messages: eval.Opening(p, s.tools != nil), Thinking: true,
		Sampling: agent.Sampling{
			Temperature: r.Temperature, TopP: r.TopP, TopK: r.TopK, Seed: s.recipe.Seed,
			Request: fmt.Sprintf("%d/%d/%s/%d", step, x.group, p.ID, x.index),
		},
	}
	tools := s.tools
	if tools != nil {
		tools = markedTools{tools, &x.calling}
	}
	began := time.Now()
	var err error
	x.episode, err = agent.Run(ctx, s.endpoint, tools, opening, budgets(s.recipe))
	x.writing = time.Since(began) - x.calling
	switch {
	case errors.Is(err, errTool):
		x.failure = err
	case err != nil:
		cancel(fmt.Errorf("sample answer %d to %s: %w", x.index, x.question, err))
	}
}

// judge scores one conversation and applies the policies.
func (s sampler) judge(ctx context.Context, cancel func(error), x *sample, p datasets.Problem) {
	if x.failure == nil {
		x.score, x.failure = s.scorer.Score(ctx, reward.Answer{Problem: p, Sample: x.index, Episode: x.episode})
	}
	w := s.recipe.Reward
	if x.failure != nil && (w.Infra == "stop" || errors.Is(x.failure, reward.ErrBroken)) {
		cancel(fmt.Errorf("%w answer %d to %s: %w", errJudging, x.index, x.question, x.failure))
	}
	x.lay()
	x.decide(w.Infra, w.Truncated)
}
