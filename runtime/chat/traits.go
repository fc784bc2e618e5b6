package chat

import (
	"encoding/json"
	"strings"
)

// traits are what a model's template does, found by rendering probes.
type traits struct {
	tools     bool   // the tools' schemas appear in the prompt
	toolCalls bool   // an assistant's tool_calls appear
	toolRole  bool   // messages of role tool have a form of their own
	ownSystem string // the system text that stands in when none is given
	end       int32  // the control token after an assistant's content
	hasEnd    bool
}

// Texts that no template contains.
const (
	probeTool    = "cr_probe_function"
	probeCalled  = "cr_probe_called"
	probeRole    = "cr_probe_role"
	probeContent = "cr probe content"
	probeReply   = "cr probe reply"
)

// probe renders small conversations to learn the template's traits. A template
// that refuses a probe lacks the trait; without a template all are missing.
func (m *Model) probe() traits {
	user := Message{Role: "user", Content: "question"}
	tools := []Tool{Tool(`{"type": "function", "function": {"name": "` + probeTool + `", "description": "d", "parameters": ` +
		`{"type": "object", "properties": {"x": {"type": "string", "description": "d"}}, "required": ["x"]}}}`)}
	call := Message{Role: "assistant", Content: probeContent, ToolCalls: []ToolCall{
		{ID: "call00000", Name: probeCalled, Arguments: json.RawMessage(`{"x": "y"}`)},
	}}
	reply := Message{Role: "tool", Content: probeReply, ToolCallID: "call00000", Name: probeCalled}

	var t traits
	t.tools = strings.Contains(m.attempt(tools, user), probeTool)
	t.toolCalls = strings.Contains(m.attempt(tools, user, call), probeCalled)
	t.toolRole = m.probeToolRole(t.tools, tools, user, call, reply)
	t.ownSystem = m.probeSystem(user)
	t.end, t.hasEnd = m.probeEnd(user)
	return t
}

// attempt renders messages as they are; "" if the template refuses them.
func (m *Model) attempt(tools []Tool, messages ...Message) string {
	text, guard, err := m.renderGuarded(messages, tools, RenderOptions{})
	if err != nil {
		return ""
	}
	return unguard(text, guard)
}

// probeToolRole tells whether the template knows tool replies: it must show
// them, and unless it knows tools otherwise, treat them unlike a role it has
// never heard of, as templates without tools copy any role's name.
func (m *Model) probeToolRole(knowsTools bool, tools []Tool, user, call, reply Message) bool {
	known := m.attempt(tools, user, call, reply)
	if !strings.Contains(known, probeReply) {
		return false
	}
	reply.Role = probeRole
	unknown := m.attempt(tools, user, call, reply)
	return knowsTools || strings.ReplaceAll(unknown, probeRole, "tool") != known
}

// probeSystem finds the system text that the template writes by itself: what
// stands, without a system message, where the message's text would.
func (m *Model) probeSystem(user Message) string {
	before, after, ok := strings.Cut(m.attempt(nil, Message{Role: "system", Content: probeContent}, user), probeContent)
	if !ok || before == "" || after == "" {
		return ""
	}
	own, ok := strings.CutPrefix(m.attempt(nil, user), before)
	if !ok {
		return ""
	}
	own, ok = strings.CutSuffix(own, after)
	if !ok {
		return ""
	}
	return own
}

// probeEnd finds the control token that closes an assistant's turn.
func (m *Model) probeEnd(user Message) (int32, bool) {
	_, rest, ok := strings.Cut(m.attempt(nil, user, Message{Role: "assistant", Content: probeContent}), probeContent)
	if !ok {
		return 0, false
	}
	at, control := m.tok.controls.find(rest)
	if control == nil || strings.TrimSpace(rest[:at]) != "" {
		return 0, false
	}
	return control.ID, true
}
