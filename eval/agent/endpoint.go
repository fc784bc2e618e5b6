// Package agent runs the multi-turn tool loop: a model writes, its tool calls
// run, their replies go back, until it answers or a budget ends.
package agent

import (
	"context"

	"github.com/coderl/cr/runtime/chat"
)

// Endpoint is a model that continues conversations: the embedded engine, or an
// OpenAI-compatible server. It is safe for concurrent use.
type Endpoint interface {
	// Info describes the model for the run folder and the notices.
	Info() Info
	// Start opens a conversation. The prompt is rendered and counted, nothing
	// is generated.
	Start(ctx context.Context, opening Opening) (Conversation, error)
}

// Info is what a caller may need to know of a model.
type Info struct {
	Model   string
	Context int // longest sequence in tokens; 0: unknown
	// ToolsInSystem says that the model's template ignores tools, so that the
	// schema and the Hermes instructions stand in its system turn.
	ToolsInSystem bool
}

// Opening is the start of a conversation.
type Opening struct {
	Messages []chat.Message
	Tools    []chat.Tool
	Thinking bool
	Sampling Sampling
}

// Sampling is how one conversation draws its tokens. Draws are keyed by
// (Seed, Request, position): equal keys give equal text whatever runs beside.
type Sampling struct {
	Temperature       float64
	TopP              float64
	TopK              int
	MinP              float64
	RepetitionPenalty float64 // 1 or 0: none
	Seed              uint64
	Request           string // question id and sample index
}

// Conversation is one running dialogue.
type Conversation interface {
	// PromptTokens is the length of the opening prompt.
	PromptTokens() int
	// Next samples one assistant turn of at most max tokens, its ReplyTokens
	// included. When there is no room for a token it is ErrContextFull; the
	// turn beside it has the ReplyTokens all the same.
	Next(ctx context.Context, max int) (Turn, error)
	// Reply appends tool results, in call order, and returns how many tokens
	// they and their glue take.
	Reply(ctx context.Context, results []chat.Message) (tokens int, err error)
	// Wait tells the engine that the conversation waits for a tool, so that
	// others take its place; Next ends the wait.
	Wait()
	Close()
}

// Turn is one assistant turn as sampled.
type Turn struct {
	Text   string          // without the end token; control text such as <tool_call> kept
	Native []chat.ToolCall // calls a server parsed itself; nil: parse Text
	Tokens int             // sampled, end token included
	// ReplyTokens counts the tool replies before this turn that Reply could not
	// count: a server tells the length of a prompt only with its answer.
	ReplyTokens int
	// Opened: the prompt ended with the opening tag of the thinking, so that
	// Text begins inside of it.
	Opened bool
	Finish string // "stop" or "length"
	// Given are the ids before IDs that were not sampled: the opening of the first
	// turn, the replies with their glue of a later one. The Given and IDs of all
	// turns are the whole sequence as the model saw it. nil from a server.
	Given    []int32
	IDs      []int32   // nil from a server
	LogProbs []float32 // of IDs, log-softmax of logits/temperature; nil from a server
}

// Counter is an endpoint that can tell how many tokens it has sampled, also
// within turns that are not finished yet.
type Counter interface {
	Sampled() int64
}
