// Package examples makes training examples of conversations: a row is rendered
// once, whole, with the model's own template, and the tokens that the model is
// to learn are located in that rendering. Examples are packed into micro-batches
// and ordered so that any step's batch can be told from its number alone.
//
// # What is trained
//
// Of an assistant's turn: reasoning where the template shows it, content, tool
// calls, and the control token that ends the turn. Not trained: turns of others,
// tool replies among them, the header of an assistant's turn and whatever else a
// generation prompt with the row's options gives (an empty think block where
// enable_thinking is false), and the white space behind the turn's end, which no
// model ever writes; [MaskVerl] trains the latter. A token that straddles the
// border of what is trained is trained, as in transformers' assistant masks: the
// one that joins a header's newline with those that a content begins with.
//
// A message's loss_mask, if it has one, comes before that: 0 trains nothing of
// it; 1 trains all that the template wrote for a message of another role, header
// included, as verl does, and changes nothing for an assistant's.
//
// A first token is never trained: nothing predicts it.
package examples

import (
	"errors"
	"fmt"
)

// Span is the tokens [From, To) of an example.
type Span struct {
	From, To int
}

// Example is a conversation as a model reads it.
type Example struct {
	Name    string // of its row: "FILE: row 3"
	IDs     []int32
	Trained []Span // what is learnt, as targets: ascending, apart, never empty
}

// Targets is the number of trained tokens.
func (e *Example) Targets() int {
	n := 0
	for _, s := range e.Trained {
		n += s.To - s.From
	}
	return n
}

// Reason is why a row is no example, or not the one that it seems to be.
type Reason string

// The reasons.
const (
	NoConversation Reason = "no_conversation" // the row cannot be read as messages and tools
	BrokenCall     Reason = "broken_tool_call"
	Template       Reason = "template"      // the template refuses it, or it cannot be told where the turns lie
	TextLost       Reason = "text_lost"     // the template drops or changes text of a message
	ThinkingLost   Reason = "thinking_lost" // the template drops reasoning, under ThinkingAll
	OverLong       Reason = "too_long"
	Untrained      Reason = "nothing_trained"
	RoleOrder      Reason = "role_order" // turns do not follow each other as they should; found by Check alone
)

// Counts say what became of the rows.
type Counts struct {
	Rows      int            `json:"rows"`
	Examples  int            `json:"examples"`
	Tokens    int64          `json:"tokens"`  // of the examples
	Targets   int64          `json:"targets"` // of those, the trained ones
	Longest   int            `json:"longest"` // tokens, before any were left out
	Truncated int            `json:"truncated,omitempty"`
	Altered   int            `json:"altered,omitempty"` // kept though the template changes their text
	Dropped   map[Reason]int `json:"dropped,omitempty"`
}

// RowError is a row that stops a run.
type RowError struct {
	Row    string // where it is
	Reason Reason
	Err    error
}

func (e *RowError) Error() string { return fmt.Sprintf("%s: %v", e.Row, e.Err) }

// Unwrap returns the cause.
func (e *RowError) Unwrap() error { return e.Err }

// ErrNoExamples means that no row became an example.
var ErrNoExamples = errors.New("no row is left to train on")
