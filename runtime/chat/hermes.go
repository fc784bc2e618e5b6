package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// adapt rewrites a conversation for a template that does not know tools, tool
// calls or tool replies: the schemas and the Hermes instructions go into the
// system turn, calls into the assistant's text, replies into user turns. What
// the template knows stays as it is.
func (m *Model) adapt(messages []Message, tools []Tool) ([]Message, error) {
	if err := checkCalls(messages); err != nil {
		return nil, err
	}
	var err error
	if !m.traits.tools && len(tools) > 0 {
		if messages, err = m.withToolsInSystem(messages, tools); err != nil {
			return nil, err
		}
	}
	if !m.traits.toolCalls {
		if messages, err = withCallsInText(messages); err != nil {
			return nil, err
		}
	}
	if !m.traits.toolRole {
		messages = withRepliesInUser(messages)
	}
	return messages, nil
}

// places tells where each message went when adapt made n messages of all: tool
// replies that share a user turn went to the same place.
func (m *Model) places(messages []Message, n int) []int {
	at := make([]int, len(messages))
	used := 0
	for i, msg := range messages {
		if m.traits.toolRole || msg.Role != "tool" || i == 0 || messages[i-1].Role != "tool" {
			used++
		}
		at[i] = used - 1
	}
	for i := range at {
		at[i] += n - used // a system turn that was put before all
	}
	return at
}

// visibleTools are the tools as the template gets them: none if it would not
// show them.
func (m *Model) visibleTools(tools []Tool) []Tool {
	if m.traits.tools {
		return tools
	}
	return nil
}

// checkCalls reports the first message whose tool calls cannot be rendered, by
// its place in the caller's list.
func checkCalls(messages []Message) error {
	for i, msg := range messages {
		for n, call := range msg.ToolCalls {
			if _, _, err := argumentsObject(call.Arguments); err != nil {
				return &MessageError{Index: i, Err: fmt.Errorf("tool call %d (%s): %w", n, call.Name, err)}
			}
		}
	}
	return nil
}

// withToolsInSystem puts the tools into the system turn. Where there is none,
// one is made, with the text that the template would have written by itself.
func (m *Model) withToolsInSystem(messages []Message, tools []Tool) ([]Message, error) {
	text, err := toolsText(tools)
	if err != nil {
		return nil, err
	}
	if len(messages) > 0 && messages[0].Role == "system" {
		messages = slices.Clone(messages)
	} else {
		messages = append([]Message{{Role: "system", Content: m.traits.ownSystem}}, messages...)
	}
	if messages[0].Content != "" {
		messages[0].Content += "\n\n"
	}
	messages[0].Content += text
	return messages, nil
}

// toolsText describes the tools and the Hermes form of a call.
func toolsText(tools []Tool) (string, error) {
	var b strings.Builder
	b.WriteString("# Tools\n\nYou can call functions while you work on the task. " +
		"Their signatures stand within <tools></tools> tags, one JSON object a line:\n<tools>\n")
	for i, tool := range tools {
		line, err := pythonJSON(tool)
		if err != nil {
			return "", fmt.Errorf("tool %d: schema: %w", i, err)
		}
		b.WriteString(line + "\n")
	}
	b.WriteString("</tools>\n\nTo call a function, write a JSON object with its name and its arguments " +
		"within <tool_call></tool_call> tags:\n<tool_call>\n" +
		`{"name": <function-name>, "arguments": <args-json-object>}` +
		"\n</tool_call>\nIts result comes back within <tool_response></tool_response> tags.")
	return b.String(), nil
}

func withCallsInText(messages []Message) ([]Message, error) {
	messages = slices.Clone(messages)
	for i, msg := range messages {
		for _, call := range msg.ToolCalls {
			text, err := callText(call)
			if err != nil {
				return nil, &MessageError{Index: i, Err: err}
			}
			if messages[i].Content != "" {
				messages[i].Content += "\n"
			}
			messages[i].Content += text
		}
		messages[i].ToolCalls = nil
	}
	return messages, nil
}

// callText writes a call in the Hermes form.
func callText(call ToolCall) (string, error) {
	object, isText, err := argumentsObject(call.Arguments)
	if err != nil {
		return "", err
	}
	arguments := string(object)
	if !isText && !call.AsText {
		if arguments, err = pythonJSON(object); err != nil {
			return "", err
		}
	}
	var name pyJSON
	name.quote(call.Name)
	return "<tool_call>\n{\"name\": " + name.out.String() + ", \"arguments\": " + arguments + "}\n</tool_call>", nil
}

// withRepliesInUser turns each run of tool messages into one user turn.
func withRepliesInUser(messages []Message) []Message {
	var out []Message
	for i, msg := range messages {
		if msg.Role != "tool" {
			out = append(out, msg)
			continue
		}
		reply := "<tool_response>\n" + msg.Content + "\n</tool_response>"
		if i > 0 && messages[i-1].Role == "tool" {
			out[len(out)-1].Content += "\n" + reply
			continue
		}
		out = append(out, Message{Role: "user", Content: reply})
	}
	return out
}

// pythonJSON rewrites JSON text as Python's json.dumps would write it.
func pythonJSON(raw json.RawMessage) (string, error) {
	b, err := newBuilder(&controlSet{}, nil, []Tool{raw})
	if err != nil {
		return "", err
	}
	v, err := jsonValue(raw, b.controls, b.guard)
	if err != nil {
		return "", err
	}
	w := pyJSON{guard: b.guard, item: ", ", key: ": "}
	if err := w.write(v, 0); err != nil {
		return "", err
	}
	return w.out.String(), nil
}
