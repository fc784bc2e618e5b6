// Package chat turns conversations into token ids and token ids into
// conversations: tokenizer, chat template, streaming detokeniser, and the
// Hermes tool-call parser.
package chat

import "encoding/json"

// Message is one turn, in the fields chat templates know.
type Message struct {
	Role       string     `json:"role"` // system, user, assistant, tool
	Content    string     `json:"content"`
	Reasoning  string     `json:"reasoning_content,omitempty"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Name       string     `json:"name,omitempty"`
	// NoReasoning says that a conversation gives an empty reasoning_content.
	// Templates then leave the content whole, where without one they look for
	// reasoning in it.
	NoReasoning bool `json:"-"`
}

// ToolCall is a model's request to run a tool. Arguments is the JSON text as
// the model wrote it: key order, spacing and number literals are kept.
type ToolCall struct {
	ID        string
	Name      string
	Arguments json.RawMessage
	// AsText says that a conversation gave the arguments as a string: templates
	// insert that text as it stands, where they encode an object themselves.
	AsText bool
}

// Tool is the JSON schema a model sees, verbatim:
// {"type": "function", "function": {"name": …, "parameters": …}}.
type Tool = json.RawMessage

// ParsedCall is one <tool_call> block of an assistant's text: a call, or the
// reason it is none, worded for the model to read.
type ParsedCall struct {
	Call ToolCall
	Err  error // nil: Call is complete and may run
}
