package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/ardanlabs/jinja"
)

// RenderOptions steer a rendering; the zero value renders the messages alone.
type RenderOptions struct {
	AddGenerationPrompt bool           // end with the opening of an assistant turn
	Thinking            *bool          // enable_thinking; nil: not defined, the template decides
	Extra               map[string]any // further template variables
}

// Rendered is a conversation as the model reads it.
type Rendered struct {
	Text string
	IDs  []int32
}

// MessageError says which message of a conversation cannot be rendered.
type MessageError struct {
	Index int // of the message, from 0
	Err   error
}

func (e *MessageError) Error() string { return fmt.Sprintf("message %d: %v", e.Index, e.Err) }

func (e *MessageError) Unwrap() error { return e.Err }

// Render writes a conversation with the model's own template, as transformers'
// apply_chat_template does, and encodes it. Control tokens that content,
// arguments or schemas spell are encoded as plain text; but for them the ids
// are those of the text.
//
// Where the template ignores tools, tool calls or tool replies, they are
// written in the Hermes form into the turns it does know. A message that
// cannot be rendered is a *MessageError.
func (m *Model) Render(messages []Message, tools []Tool, o RenderOptions) (Rendered, error) {
	messages, err := m.adapt(messages, tools)
	if err != nil {
		return Rendered{}, err
	}
	text, guard, err := m.renderGuarded(messages, m.visibleTools(tools), o)
	if err != nil {
		return Rendered{}, err
	}
	return Rendered{Text: unguard(text, guard), IDs: m.tok.appendTemplate(nil, text, guard)}, nil
}

// renderGuarded renders with guards still in the text.
func (m *Model) renderGuarded(messages []Message, tools []Tool, o RenderOptions) (string, rune, error) {
	template, err := m.templates.pick(len(tools) > 0)
	if err != nil {
		return "", 0, err
	}
	b, err := newBuilder(&m.tok.controls, messages, tools)
	if err != nil {
		return "", 0, err
	}
	list, schemas, err := b.conversation(messages, tools)
	if err != nil {
		return "", 0, err
	}
	text, err := execute(template, m.variables(list, schemas, b.guard, o))
	return text, b.guard, err
}

// builder turns messages into template values.
type builder struct {
	controls *controlSet
	guard    rune
	used     map[rune]bool // private-use runes of the conversation
}

// conversation gives the values of messages and tools.
func (b *builder) conversation(messages []Message, tools []Tool) (list, schemas jinja.Value, err error) {
	if list, err = b.messages(messages); err != nil {
		return list, schemas, err
	}
	schemas, err = b.tools(tools)
	return list, schemas, err
}

var errNoGuard = errors.New("the conversation uses every private-use character, none is left to mark control tokens with")

// newBuilder finds a rune for the guards that no text of the conversation has.
// JSON may escape runes, so escaped ones count as used too.
func newBuilder(controls *controlSet, messages []Message, tools []Tool) (*builder, error) {
	used := map[rune]bool{}
	for text := range texts(messages, tools) {
		for _, r := range text {
			if r >= 0xE000 && r <= 0xF8FF {
				used[r] = true
			}
		}
		for _, r := range escapedRunes(text) {
			used[r] = true
		}
	}
	guard, ok := freeRune(func(r rune) bool { return used[r] })
	if !ok {
		return nil, errNoGuard
	}
	return &builder{controls: controls, guard: guard, used: used}, nil
}

// texts goes over all that a conversation says.
func texts(messages []Message, tools []Tool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, msg := range messages {
			all := []string{msg.Role, msg.Content, msg.Reasoning, msg.Name, msg.ToolCallID}
			for _, call := range msg.ToolCalls {
				all = append(all, call.ID, call.Name, string(call.Arguments))
			}
			for _, text := range all {
				if !yield(text) {
					return
				}
			}
		}
		for _, tool := range tools {
			if !yield(string(tool)) {
				return
			}
		}
	}
}

// escapedRunes lists the runes that JSON text writes as \uXXXX.
func escapedRunes(text string) []rune {
	var runes []rune
	for _, part := range strings.Split(text, `\u`)[1:] {
		var r rune
		if _, err := fmt.Sscanf(part, "%4x", &r); err == nil {
			runes = append(runes, r)
		}
	}
	return runes
}

func (b *builder) text(s string) jinja.Value {
	return jinja.NewString(b.controls.guarded(validText(s), b.guard))
}

func (b *builder) messages(messages []Message) (jinja.Value, error) {
	items := make([]jinja.Value, len(messages))
	for i, msg := range messages {
		v, err := b.message(msg)
		if err != nil {
			return jinja.Undefined(), err
		}
		items[i] = v
	}
	return jinja.NewList(items), nil
}

// message has the keys that transformers' users write; those of no value are
// left out, so that a template's "is defined" answers as it would there.
func (b *builder) message(msg Message) (jinja.Value, error) {
	v := jinja.NewDict()
	d := v.AsDict()
	d.Set("role", b.text(msg.Role))
	d.Set("content", b.text(msg.Content))
	if msg.Reasoning != "" || msg.NoReasoning {
		d.Set("reasoning_content", b.text(msg.Reasoning))
	}
	if len(msg.ToolCalls) > 0 {
		calls, err := b.calls(msg.ToolCalls)
		if err != nil {
			return jinja.Undefined(), err
		}
		d.Set("tool_calls", calls)
	}
	if msg.ToolCallID != "" {
		d.Set("tool_call_id", b.text(msg.ToolCallID))
	}
	if msg.Name != "" {
		d.Set("name", b.text(msg.Name))
	}
	return v, nil
}

func (b *builder) calls(calls []ToolCall) (jinja.Value, error) {
	items := make([]jinja.Value, len(calls))
	for i, call := range calls {
		arguments, err := b.arguments(call)
		if err != nil {
			return jinja.Undefined(), fmt.Errorf("tool call %d (%s): %w", i, call.Name, err)
		}
		function := jinja.NewDict()
		function.AsDict().Set("name", b.text(call.Name))
		function.AsDict().Set("arguments", arguments)
		items[i] = jinja.NewDict()
		if call.ID != "" {
			items[i].AsDict().Set("id", b.text(call.ID))
		}
		items[i].AsDict().Set("type", jinja.NewString("function"))
		items[i].AsDict().Set("function", function)
	}
	return jinja.NewList(items), nil
}

// arguments are a mapping, which the template's own encoder writes, or the
// text of one, which stands as it was given.
func (b *builder) arguments(call ToolCall) (jinja.Value, error) {
	object, isText, err := argumentsObject(call.Arguments)
	if err != nil {
		return jinja.Undefined(), err
	}
	if isText || call.AsText {
		return b.text(string(object)), nil
	}
	return jsonValue(object, b.controls, b.guard)
}

// argumentsObject returns the JSON object that arguments are, or that the
// string they are holds.
func argumentsObject(raw json.RawMessage) (object json.RawMessage, isText bool, err error) {
	var text string
	if json.Unmarshal(raw, &text) == nil && strings.HasPrefix(strings.TrimSpace(string(raw)), `"`) {
		raw, isText = json.RawMessage(text), true
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, false, errors.New("arguments are neither a JSON object nor a string that holds one")
	}
	return raw, isText, nil
}

// tools is None without tools, as transformers passes it.
func (b *builder) tools(tools []Tool) (jinja.Value, error) {
	if len(tools) == 0 {
		return jinja.None(), nil
	}
	items := make([]jinja.Value, len(tools))
	for i, tool := range tools {
		v, err := jsonValue(tool, b.controls, b.guard)
		if err != nil {
			return jinja.Undefined(), fmt.Errorf("tool %d: schema: %w", i, err)
		}
		items[i] = v
	}
	return jinja.NewList(items), nil
}
