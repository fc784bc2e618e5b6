package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// wireToolCall is a tool call as OpenAI-style conversations write it.
type wireToolCall struct {
	ID        string          `json:"id,omitempty"`
	Type      string          `json:"type,omitempty"`
	Function  *wireFunction   `json:"function,omitempty"`
	Name      string          `json:"name,omitempty"` // the short form: no function object
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

type wireFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// ErrUnnamedCall is a tool call of a conversation that has no name.
var ErrUnnamedCall = errors.New("a tool call without a name")

// MarshalJSON writes the call as OpenAI's API does, arguments as a string that
// holds their JSON text.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	arguments, err := encodeJSON(string(c.Arguments))
	if err != nil {
		return nil, err
	}
	return encodeJSON(wireToolCall{ID: c.ID, Type: "function", Function: &wireFunction{c.Name, arguments}})
}

// UnmarshalJSON reads OpenAI's form and the short one, {"name", "arguments"}.
// Arguments may be an object, or a string: a string that holds JSON is taken as
// that JSON text.
func (c *ToolCall) UnmarshalJSON(raw []byte) error {
	var w wireToolCall
	if err := json.Unmarshal(raw, &w); err != nil {
		return err
	}
	f := w.Function
	if f == nil {
		f = &wireFunction{w.Name, w.Arguments}
	}
	if f.Name == "" {
		return ErrUnnamedCall
	}
	*c = ToolCall{ID: w.ID, Name: f.Name, Arguments: f.Arguments}
	var text string
	if json.Unmarshal(f.Arguments, &text) == nil && json.Valid([]byte(text)) {
		c.Arguments, c.AsText = json.RawMessage(text), true
	}
	return nil
}

// UnmarshalJSON reads a message whose content is a text, null, or a list of
// text parts. Reasoning may be called thinking or reasoning too.
func (m *Message) UnmarshalJSON(raw []byte) error {
	type plain Message // without this method
	w := struct {
		*plain
		Content   json.RawMessage `json:"content"`
		Reasoning *string         `json:"reasoning_content"`
		Thinking  json.RawMessage `json:"thinking"`
		Older     json.RawMessage `json:"reasoning"`
	}{plain: (*plain)(m)}
	if err := json.Unmarshal(raw, &w); err != nil {
		return err
	}
	// Other names for it, in the order in which transformers looks for them.
	for _, alias := range []json.RawMessage{w.Thinking, w.Older} {
		var text string
		if w.Reasoning == nil && !isNull(alias) && json.Unmarshal(alias, &text) == nil {
			w.Reasoning = &text
		}
	}
	if w.Reasoning != nil {
		m.Reasoning, m.NoReasoning = *w.Reasoning, *w.Reasoning == ""
	}
	var err error
	m.Content, err = contentText(w.Content)
	return err
}

func contentText(raw json.RawMessage) (string, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "", nil
	}
	if raw[0] != '[' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return "", errors.New("content is neither a text nor a list of text parts")
		}
		return text, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", fmt.Errorf("content: %w", err)
	}
	var all strings.Builder
	for _, p := range parts {
		if p.Type != "" && p.Type != "text" {
			return "", fmt.Errorf("content part of type %q: only text is supported", p.Type)
		}
		all.WriteString(p.Text)
	}
	return all.String(), nil
}

// ParseConversation reads a JSON list of messages, or an object with messages
// and, optionally, tools.
func ParseConversation(raw []byte) ([]Message, []Tool, error) {
	var c struct {
		Messages []Message `json:"messages"`
		Tools    []Tool    `json:"tools"`
	}
	target := any(&c)
	if trimmed := bytes.TrimSpace(raw); len(trimmed) > 0 && trimmed[0] == '[' {
		target = &c.Messages
	}
	if err := json.Unmarshal(raw, target); err != nil {
		return nil, nil, fmt.Errorf("conversation: %w", err)
	}
	if len(c.Messages) == 0 {
		return nil, nil, errors.New("conversation: no messages")
	}
	for i, m := range c.Messages {
		switch m.Role {
		case "system", "user", "assistant", "tool", "developer":
		default:
			return nil, nil, fmt.Errorf("conversation: message %d: role %q: want system, user, assistant or tool", i, m.Role)
		}
	}
	return c.Messages, c.Tools, nil
}

// encodeJSON is json.Marshal with < > & as themselves.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
