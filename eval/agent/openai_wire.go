package agent

import (
	"encoding/json"

	"github.com/coderl/cr/runtime/chat"
)

// chatRequest is the body of POST /chat/completions. Fields beyond OpenAI's own
// (top_k, min_p, repetition_penalty, chat_template_kwargs) are sent only when
// they say something, as strict servers refuse names they do not know.
type chatRequest struct {
	Model             string            `json:"model"`
	Messages          []wireMessage     `json:"messages"`
	Tools             []json.RawMessage `json:"tools,omitempty"`
	ToolChoice        string            `json:"tool_choice,omitempty"`
	N                 int               `json:"n"`
	Temperature       float64           `json:"temperature"`
	TopP              float64           `json:"top_p,omitempty"`
	TopK              int               `json:"top_k,omitempty"`
	MinP              float64           `json:"min_p,omitempty"`
	RepetitionPenalty float64           `json:"repetition_penalty,omitempty"`
	Seed              int64             `json:"seed"`
	MaxTokens         int               `json:"max_tokens,omitempty"`
	TemplateArgs      map[string]any    `json:"chat_template_kwargs,omitempty"`
}

type chatReply struct {
	Choices []struct {
		Message *wireMessage `json:"message"`
		Finish  string       `json:"finish_reason"`
	} `json:"choices"`
	// Error stands instead of choices where a server fails with status 200.
	Error json.RawMessage `json:"error"`
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
}

// wireMessage is a message on the wire.
type wireMessage struct {
	Role       string      `json:"role"`
	Content    wireContent `json:"content"`
	Reasoning  string      `json:"reasoning_content,omitempty"`
	Thought    string      `json:"reasoning,omitempty"` // newer vLLM's name for it
	ToolCalls  []wireCall  `json:"tool_calls,omitempty"`
	ToolCallID string      `json:"tool_call_id,omitempty"`
	Name       string      `json:"name,omitempty"`
}

// wireContent is a text, null, or a list of text parts.
type wireContent struct{ text string }

// MarshalJSON writes the text.
func (c wireContent) MarshalJSON() ([]byte, error) { return json.Marshal(c.text) }

// UnmarshalJSON reads the three forms.
func (c *wireContent) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '[' {
		var parts []struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(raw, &parts); err != nil {
			return err
		}
		c.text = ""
		for _, p := range parts {
			c.text += p.Text
		}
		return nil
	}
	return json.Unmarshal(raw, &c.text) // null leaves ""
}

// wireCall is a native tool call; arguments travel as a string of JSON.
type wireCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string        `json:"name"`
		Arguments wireArguments `json:"arguments"`
	} `json:"function"`
}

// wireArguments is the text of a call's arguments. Some servers send the object
// itself; it goes back to them as the text that others write.
type wireArguments string

// UnmarshalJSON reads both forms.
func (a *wireArguments) UnmarshalJSON(raw []byte) error {
	var text string
	if raw[0] != '{' {
		err := json.Unmarshal(raw, &text) // null leaves ""
		*a = wireArguments(text)
		return err
	}
	*a = wireArguments(raw)
	return nil
}

// call is the native call as ours. Arguments that are no JSON become a JSON
// string, which the tool answers with an error for the model.
func (w wireCall) call() chat.ToolCall {
	args := json.RawMessage(w.Function.Arguments)
	if !json.Valid(args) {
		args, _ = json.Marshal(string(w.Function.Arguments)) // a string always encodes
	}
	return chat.ToolCall{ID: w.ID, Name: w.Function.Name, Arguments: args}
}

// text is a server's turn in the form the loop reads: the thinking that a
// reasoning parser took out is put back in front of the answer.
func (m wireMessage) text() string {
	if m.Reasoning+m.Thought == "" {
		return m.Content.text
	}
	text := "<think>\n" + m.Reasoning + m.Thought
	if m.Content.text == "" && len(m.ToolCalls) == 0 {
		return text // cut while thinking
	}
	return text + "\n</think>\n\n" + m.Content.text
}

func toWire(m chat.Message) wireMessage {
	w := wireMessage{
		Role: m.Role, Content: wireContent{m.Content}, Reasoning: m.Reasoning,
		ToolCallID: m.ToolCallID, Name: m.Name,
	}
	for _, c := range m.ToolCalls {
		call := wireCall{ID: c.ID, Type: "function"}
		call.Function.Name, call.Function.Arguments = c.Name, wireArguments(c.Arguments)
		w.ToolCalls = append(w.ToolCalls, call)
	}
	return w
}
