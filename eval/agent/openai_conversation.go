package agent

import (
	"context"
	"fmt"

	"github.com/coderl/cr/runtime/chat"
)

// Start opens a conversation. Nothing is sent before the first turn.
func (o *OpenAI) Start(_ context.Context, opening Opening) (Conversation, error) {
	c := &openAIConversation{server: o, opening: opening}
	c.add(opening.Messages)
	for _, t := range opening.Tools {
		c.fresh += len(t)
	}
	return c, nil
}

// openAIConversation is one dialogue; the server keeps no state, so each turn
// sends the whole of it.
type openAIConversation struct {
	server  *OpenAI
	opening Opening
	history []wireMessage
	turns   int
	calls   int // native calls so far; numbers their ids as the loop does
	prompt  int // tokens of the opening, known after the first turn
	length  int // tokens of the conversation after the last turn
	fresh   int // bytes added to the history since
}

func (c *openAIConversation) PromptTokens() int { return c.prompt }
func (c *openAIConversation) Wait()             {}
func (c *openAIConversation) Close()            {}

// Reply keeps the results for the next request; their tokens are counted then.
func (c *openAIConversation) Reply(_ context.Context, results []chat.Message) (int, error) {
	c.add(results)
	return 0, nil
}

// add puts messages into the history, to be counted by the next answer.
func (c *openAIConversation) add(messages []chat.Message) {
	const glue = 64 // bytes of the template's text around a message, at most
	for _, m := range messages {
		c.history = append(c.history, toWire(m))
		c.fresh += len(m.Content) + glue
	}
}

// Next asks the server for one turn. When the tool replies before it prove
// longer than what the budget leaves for the turn, it asks once more with the
// exact limit; the seed is the same, so the turn only gets cut.
func (c *openAIConversation) Next(ctx context.Context, limit int) (Turn, error) {
	reply, err := c.server.complete(ctx, c.request(limit))
	if err != nil {
		return Turn{}, c.overflow(err)
	}
	growth := 0
	if c.turns > 0 {
		growth = max(0, reply.Usage.Prompt-c.length)
	}
	if limit -= growth; limit <= 0 {
		return Turn{ReplyTokens: growth}, ErrContextFull
	}
	if reply.Usage.Completion > limit {
		exact := c.request(0)
		exact.MaxTokens = limit
		if reply, err = c.server.complete(ctx, exact); err != nil {
			return Turn{}, c.overflow(err)
		}
	}
	return c.take(reply, growth), nil
}

// overflow turns a refusal for the conversation's length into the loop's terms.
func (c *openAIConversation) overflow(err error) error {
	switch {
	case !isTooLong(err):
		return err
	case c.turns == 0:
		return fmt.Errorf("%w: %w", ErrPromptTooLong, err)
	default:
		return fmt.Errorf("%w: %w", ErrContextFull, err)
	}
}

// take makes the server's answer a turn and part of the history.
func (c *openAIConversation) take(reply chatReply, growth int) Turn {
	choice := reply.Choices[0]
	turn := Turn{Text: choice.Message.text(), Tokens: reply.Usage.Completion, ReplyTokens: growth, Finish: "stop"}
	if choice.Finish == "length" {
		turn.Finish = "length"
	}
	if c.turns == 0 {
		c.prompt = reply.Usage.Prompt
	}
	turn.Native = c.adopt(*choice.Message)
	c.turns++
	c.length = reply.Usage.Prompt + reply.Usage.Completion
	c.fresh = 0
	return turn
}

// adopt adds the server's message to the history under our own call ids and
// returns its native calls.
func (c *openAIConversation) adopt(m wireMessage) []chat.ToolCall {
	var native []chat.ToolCall
	for i := range m.ToolCalls {
		c.calls++
		m.ToolCalls[i].ID = callID(c.calls)
		m.ToolCalls[i].Type = "function"
		native = append(native, m.ToolCalls[i].call())
	}
	m.Role = "assistant"
	c.history = append(c.history, m)
	return native
}

func (c *openAIConversation) request(limit int) chatRequest {
	s := c.opening.Sampling
	r := chatRequest{
		Model: c.server.info.Model, Messages: c.history, N: 1,
		Temperature: s.Temperature, TopP: s.TopP, TopK: s.TopK, MinP: s.MinP,
		Seed: turnSeed(s, c.turns), MaxTokens: limit,
	}
	if s.RepetitionPenalty != 1 {
		r.RepetitionPenalty = s.RepetitionPenalty
	}
	r.Tools = append(r.Tools, c.opening.Tools...)
	if !c.opening.Thinking {
		r.TemplateArgs = map[string]any{"enable_thinking": false}
	}
	// What was added since the server last counted is bounded by its bytes, as
	// no token is shorter. A limit that may not fit beside it is left out: the
	// server then stops at its context, where it would refuse the request.
	if n := c.server.info.Context; n > 0 && limit > n-c.length-c.fresh {
		r.MaxTokens = 0
	}
	return r
}
