package chat_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/coderl/cr/runtime/chat"
)

func TestParseConversation(t *testing.T) {
	want := func(asText bool) []chat.Message {
		call := chat.ToolCall{ID: "c1", Name: "run", Arguments: json.RawMessage(`{"code": "print(1<2)"}`), AsText: asText}
		return []chat.Message{
			{Role: "user", Content: "go on"},
			{Role: "assistant", ToolCalls: []chat.ToolCall{call}},
			{Role: "tool", Content: "True", ToolCallID: "c1"},
		}
	}
	for name, text := range map[string]string{
		"OpenAI": `{"messages": [{"role": "user", "content": [{"type": "text", "text": "go"}, {"type": "text", "text": " on"}]},
			{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{\"code\": \"print(1<2)\"}"}}]},
			{"role": "tool", "tool_call_id": "c1", "content": "True"}]}`,
		"short, a bare list": `[{"role": "user", "content": "go on"},
			{"role": "assistant", "tool_calls": [{"id": "c1", "name": "run", "arguments": {"code": "print(1<2)"}}]},
			{"role": "tool", "tool_call_id": "c1", "content": "True"}]`,
	} {
		got, _, err := chat.ParseConversation([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got, want(name == "OpenAI")) {
			t.Errorf("%s: got %+v", name, got)
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if back, _, err := chat.ParseConversation(again); err != nil || !reflect.DeepEqual(back, want(true)) {
			t.Errorf("%s: written and read back: %+v, %v", name, back, err)
		}
	}
}

func TestParseConversationRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                                  "no messages",
		`{"messages": 3}`:                     "conversation",
		`[{"role": "robot", "content": "x"}]`: `message 0: role "robot"`,
		`[{"role": "user", "content": 3}]`:    "content is neither",
		`[{"role": "user", "content": [{"type": "image_url"}]}]`:     "image_url",
		`[{"role": "assistant", "tool_calls": [{"arguments": {}}]}]`: "without a name",
		`[{"role": "user", "content": "x"}`:                          "unexpected end",
	} {
		if _, _, err := chat.ParseConversation([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseConversation(f *testing.F) {
	f.Add([]byte(`[{"role": "user", "content": [{"text": "x"}]}]`))
	f.Add([]byte(`{"messages": [{"role": "assistant", "tool_calls": [{"name": "f", "arguments": "{}"}]}], "tools": [{}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		messages, _, err := chat.ParseConversation(raw)
		if err != nil {
			return
		}
		text, err := json.Marshal(messages)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := chat.ParseConversation(text); err != nil {
			t.Fatalf("what was read cannot be read again: %v\n%s", err, text)
		}
	})
}
