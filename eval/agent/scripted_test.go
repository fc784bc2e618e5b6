package agent

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/sandbox"
)

// scripted plays turns from a list; the last one repeats for ever. A token is a
// word, in turns and in replies, and the glue of a reply is one token more.
type scripted struct {
	turns   []string
	context int
	// heard collects every reply the model was given.
	heard []chat.Message
	waits int
}

func (s *scripted) Info() Info { return Info{Model: "scripted", Context: s.context} }

func (s *scripted) Start(_ context.Context, o Opening) (Conversation, error) {
	prompt := 0
	for _, m := range o.Messages {
		prompt += len(strings.Fields(m.Content))
	}
	if s.context > 0 && prompt >= s.context {
		return nil, ErrPromptTooLong
	}
	return &scriptedConversation{s, prompt, 0, prompt}, nil
}

type scriptedConversation struct {
	*scripted
	prompt, turn, length int
}

func (c *scriptedConversation) PromptTokens() int { return c.prompt }
func (c *scriptedConversation) Wait()             { c.waits++ }
func (c *scriptedConversation) Close()            {}

func (c *scriptedConversation) Next(_ context.Context, limit int) (Turn, error) {
	text := c.turns[min(c.turn, len(c.turns)-1)]
	c.turn++
	words := strings.SplitAfter(text, " ")
	t := Turn{Text: text, Tokens: len(words), Finish: "stop"}
	if c.context > 0 {
		limit = min(limit, c.context-c.length)
	}
	if len(words) > limit {
		t = Turn{Text: strings.Join(words[:limit], ""), Tokens: limit, Finish: "length"}
	}
	c.length += t.Tokens
	return t, nil
}

func (c *scriptedConversation) Reply(_ context.Context, results []chat.Message) (int, error) {
	c.heard = append(c.heard, results...)
	n := 0
	for _, m := range results {
		n += len(strings.Fields(m.Content)) + 1
	}
	if c.context > 0 && c.length+n >= c.context {
		return n, ErrContextFull
	}
	c.length += n
	return n, nil
}

// executor answers every job with what its code says: "print X" writes X,
// "hang" runs out of time, "down" breaks the sandbox.
type executor struct {
	jobs []sandbox.Job
}

func (e *executor) Run(_ context.Context, job sandbox.Job) (sandbox.Result, error) {
	e.jobs = append(e.jobs, job)
	switch verb, rest, _ := strings.Cut(job.Code, " "); verb {
	case "print":
		return sandbox.Result{Status: sandbox.OK, Stdout: []byte(rest + "\n"), CPU: 1200 * time.Millisecond}, nil
	case "hang":
		return sandbox.Result{Status: sandbox.TimeLimitExceeded, Signal: "SIGKILL", CPU: job.Limits.CPU + 13*time.Millisecond}, nil
	case "down":
		return sandbox.Result{}, errSandboxDown
	default:
		return sandbox.Result{
			Status: sandbox.RuntimeError, ExitCode: 1,
			Stdout: []byte("before\n"), Stderr: []byte("NameError: name 'x' is not defined\n"),
		}, nil
	}
}

func (e *executor) Isolation() sandbox.Isolation { return sandbox.Isolation{Tier: "test"} }
func (e *executor) Close() error                 { return nil }

func (e *executor) codes() []string {
	var codes []string
	for _, j := range e.jobs {
		codes = append(codes, j.Code)
	}
	return slices.Clone(codes)
}
