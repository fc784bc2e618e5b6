package grpo

import (
	"strings"
	"time"

	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/recipes/reward"
	"github.com/coderl/cr/sandbox"
)

// fate is what becomes of an answer.
type fate string

// The fates.
const (
	learnt  fate = ""        // it enters its group's mean and the loss
	masked  fate = "masked"  // it enters the mean alone
	idle    fate = "uniform" // its group's answers are all worth the same, and leave the loss
	dropped fate = "dropped" // neither
)

// sample is one answer on its way through a step.
type sample struct {
	group    int // of the step
	index    int // within the group
	question string
	episode  agent.Episode
	score    reward.Score
	failure  error         // why it could not be judged; nil: it was
	writing  time.Duration // until it was written, without its tool calls
	calling  time.Duration // of its tool calls
	fate     fate

	// The trajectory: the ids that the model saw and those it sampled, never
	// tokenised again.
	ids     []int32
	spans   []examples.Span // sampled
	sampler []float32       // log-probabilities of the sampled ids as they were drawn

	old, reference []float32 // of the sampled ids; nil where not needed
	entropy        []float32
	advantage      float64
}

// lay makes the trajectory of the episode.
func (s *sample) lay() {
	for _, turn := range s.episode.Turns {
		s.ids = append(s.ids, turn.Given...)
		if len(turn.IDs) == 0 {
			continue
		}
		s.spans = append(s.spans, examples.Span{From: len(s.ids), To: len(s.ids) + len(turn.IDs)})
		s.ids = append(s.ids, turn.IDs...)
		s.sampler = append(s.sampler, turn.LogProbs...)
	}
}

// response is the length of the answer over all turns, tool replies included.
func (s *sample) response() int { return s.episode.CompletionTokens + s.episode.ReplyTokens }

// turns counts as verl does: the opening, the model's turns, the tools' replies.
func (s *sample) turns() int { return 2 * len(s.episode.Turns) }

// example is the trajectory as something to pack.
func (s *sample) example() examples.Example {
	return examples.Example{Name: s.question, IDs: s.ids, Trained: s.spans}
}

// decide applies the recipe's policies: to an answer that could not be judged,
// to a problem that cannot be, to a truncated answer.
func (s *sample) decide(infra, truncated string) {
	switch {
	case s.failure != nil && infra == "zero":
		s.score = reward.Score{Verdict: sandbox.InfraError}
	case s.failure != nil, s.score.Verdict == sandbox.InvalidTask:
		s.fate = dropped
	case !s.score.Cut:
	case truncated == "drop":
		s.fate = dropped
	case truncated == "mask":
		s.fate = masked
	case truncated == "zero":
		s.score.Reward = 0
	}
	if len(s.spans) == 0 && s.fate == learnt {
		s.fate = masked // nothing was sampled: there is nothing to learn
	}
}

// noCode tells an answer without a program.
func (s *sample) noCode() bool { return strings.TrimSpace(s.score.Program) == "" }
