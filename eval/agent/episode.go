package agent

import (
	"errors"
	"time"

	"github.com/coderl/cr/runtime/chat"
)

// Budgets end a conversation that does not end by itself.
type Budgets struct {
	// Tokens bounds the response: every sampled token of every turn, and every
	// token of the tool replies with the template's text around them.
	Tokens     int
	Turns      int           // assistant turns
	Calls      int           // tool calls
	PerTurn    int           // tool calls of one turn, later ones being ignored; 0: all
	ToolCall   time.Duration // of one tool call
	ToolTotal  time.Duration // charged time of all tool calls, see ToolReply
	ToolOutput int           // characters of one tool reply; head and tail are kept
}

// DefaultBudgets are the limits of `cr eval` when no flag says otherwise.
func DefaultBudgets() Budgets {
	return Budgets{
		Tokens: 32768, Turns: 16, Calls: 64,
		ToolCall: 30 * time.Second, ToolTotal: 5 * time.Minute, ToolOutput: 4096,
	}
}

// Finish says why a conversation ended.
type Finish string

// The ends of a conversation.
const (
	FinishStop          Finish = "stop"            // the model answered without calling a tool
	FinishLength        Finish = "length"          // the response budget or the context was used up
	FinishMaxTurns      Finish = "max_turns"       // the last turn allowed still called a tool
	FinishToolBudget    Finish = "tool_budget"     // tools were called on after their budget was spent
	FinishPromptTooLong Finish = "prompt_too_long" // the opening does not fit the context; nothing was sampled
)

// Errors of endpoints that callers branch on.
var (
	// ErrPromptTooLong: the opening leaves no room for a single token.
	ErrPromptTooLong = errors.New("prompt is longer than the model's context")
	// ErrContextFull: replies do not fit the context any more.
	ErrContextFull = errors.New("the model's context is full")
	// ErrFatal marks errors that every later request would meet too: a wrong
	// token, an unknown model, a server that speaks another protocol.
	ErrFatal = errors.New("endpoint unusable")
)

// Episode is one finished conversation.
type Episode struct {
	// Messages is the whole conversation. An assistant turn's Content is its
	// text as sampled, thinking and <tool_call> blocks included; its ToolCalls
	// repeat the calls that were read from it.
	Messages []chat.Message
	Finish   Finish
	// Turns holds the sampled turns with their ids, in order.
	Turns            []Turn
	ToolCalls        int           // calls that ran
	ToolTime         time.Duration // charged for them
	PromptTokens     int           // of the opening
	CompletionTokens int           // sampled by the model, end tokens included
	ReplyTokens      int           // of tool replies and the template's text around them
}

// Final is the text of the last assistant turn, "" when there is none.
func (e Episode) Final() string {
	if len(e.Turns) == 0 {
		return ""
	}
	return e.Turns[len(e.Turns)-1].Text
}
