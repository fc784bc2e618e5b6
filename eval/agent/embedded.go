package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/coderl/cr/runtime"
	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/runtime/sampling"
)

// Embedded is the engine of this process as an [Endpoint].
type Embedded struct {
	engine   *runtime.Engine
	chat     *chat.Model
	logProbs bool
	sampled  atomic.Int64
}

var (
	_ Endpoint = (*Embedded)(nil)
	_ Counter  = (*Embedded)(nil)
)

// NewEmbedded wraps an open engine, which the caller still closes. logProbs
// asks for the log-probabilities that training needs.
func NewEmbedded(engine *runtime.Engine, logProbs bool) (*Embedded, error) {
	model, err := engine.Chat()
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", engine.Name(), err)
	}
	return &Embedded{engine: engine, chat: model, logProbs: logProbs}, nil
}

// Info describes the model.
func (e *Embedded) Info() Info {
	return Info{Model: e.engine.Name(), Context: e.engine.Config().Context, ToolsInSystem: e.chat.IgnoresTools()}
}

// Sampled counts the tokens sampled so far, as they come.
func (e *Embedded) Sampled() int64 { return e.sampled.Load() }

// Start renders the opening.
func (e *Embedded) Start(_ context.Context, opening Opening) (Conversation, error) {
	c := &embeddedConversation{
		endpoint: e, opening: opening, history: slices.Clone(opening.Messages),
		render: chat.RenderOptions{AddGenerationPrompt: true, Thinking: &opening.Thinking},
	}
	prompt, err := e.chat.Render(opening.Messages, opening.Tools, c.render)
	if err != nil {
		return nil, fmt.Errorf("render prompt: %w", err)
	}
	c.prompt, c.given = len(prompt.IDs), prompt.IDs
	c.opened = strings.HasSuffix(strings.TrimSpace(prompt.Text), "<think>")
	c.sequence, err = e.engine.NewSequence(prompt.IDs)
	if errors.Is(err, runtime.ErrTooLong) {
		return nil, fmt.Errorf("%w: %w", ErrPromptTooLong, err)
	}
	return c, err
}

// embeddedConversation is one sequence of the engine. The ids that were sampled
// stay as they are; replies and glue are appended as ids.
type embeddedConversation struct {
	endpoint *Embedded
	opening  Opening
	render   chat.RenderOptions
	sequence *runtime.Sequence
	prompt   int
	opened   bool           // the prompt ends inside the thinking
	history  []chat.Message // before the last sampled turn
	given    []int32        // since the last sampled turn
	last     Turn
}

func (c *embeddedConversation) PromptTokens() int { return c.prompt }
func (c *embeddedConversation) Wait()             { c.sequence.Wait() }
func (c *embeddedConversation) Close()            { c.sequence.Close() }

// Next samples one turn.
func (c *embeddedConversation) Next(ctx context.Context, limit int) (Turn, error) {
	if limit <= 0 {
		return Turn{}, ErrContextFull
	}
	s := c.opening.Sampling
	g, err := c.sequence.Generate(ctx, runtime.Params{
		Sampling: sampling.Params{
			Temperature: s.Temperature, TopP: s.TopP, TopK: s.TopK, MinP: s.MinP,
			RepetitionPenalty: s.RepetitionPenalty,
		},
		MaxTokens: limit, Seed: s.Seed, Request: s.Request, LogProbs: c.endpoint.logProbs,
	}, func(runtime.Token) { c.endpoint.sampled.Add(1) })
	if err != nil {
		return Turn{}, err
	}
	c.last = Turn{
		Text: g.Text, Tokens: len(g.IDs), Finish: g.Finish, Opened: c.opened,
		Given: c.given, IDs: g.IDs, LogProbs: g.LogProbs,
	}
	c.given = nil
	return c.last, nil
}

// Reply appends the results behind the sampled turn.
func (c *embeddedConversation) Reply(_ context.Context, results []chat.Message) (int, error) {
	end, hasEnd := c.endpoint.chat.EndOfTurn()
	ids := c.last.IDs
	ended := hasEnd && len(ids) > 0 && ids[len(ids)-1] == end
	glue, err := c.endpoint.chat.ReplyIDs(c.history, c.opening.Tools, results, ended, c.render)
	if err != nil {
		return 0, fmt.Errorf("render tool replies: %w", err)
	}
	c.history = append(c.history, chat.Message{Role: "assistant", Content: c.last.Text})
	c.history = append(c.history, results...)
	if c.sequence.Len()+len(glue) >= c.endpoint.engine.Config().Context {
		return len(glue), ErrContextFull
	}
	c.given = append(c.given, glue...)
	return len(glue), c.sequence.Append(glue)
}
