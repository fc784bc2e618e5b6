package chat

import (
	"encoding/json"
	"strings"
	"testing"
)

// wantCall is a call's name and arguments, or a piece of its error.
type wantCall struct{ name, arguments, err string }

func TestParseToolCalls(t *testing.T) {
	const ok = `{"name":"f","arguments":{}}`
	tests := []struct {
		name, text, content string
		want                []wantCall
	}{
		{
			name: "case 19: one bad block among good ones",
			text: `<tool_call>{"name":"f","arguments":{"a":1}}` + "\n" + `{"name":"g","arguments":{}}</tool_call> ` +
				`<tool_call>{"name":"h","arguments":{"s":"unterminated</tool_call> ` +
				`<tool_call>{"name":"k","arguments":{"t":"}} </b>"}}</tool_call>`,
			want: []wantCall{
				{"f", `{"a":1}`, ""},
				{"g", `{}`, ""},
				{"", "", "unterminated string"},
				{"k", `{"t":"}} </b>"}`, ""},
			},
		},
		{
			name: "case 19: cut off inside a string",
			text: `<tool_call>{"name":"f","arguments":{"a":1}}` + "\n" + `{"name":"g","arguments":{}}</tool_call> ` +
				`<tool_call>{"name":"k","arguments":{"t":"}} </`,
			want: []wantCall{{"f", `{"a":1}`, ""}, {"g", `{}`, ""}, {"", "", "unterminated string"}},
		},
		{
			name: "case 20: missing closing tags, tags inside strings",
			text: `<tool_call>{"name":"p","arguments":{"id":"1"}}` + "\n" +
				`<tool_call>{"name":"q","arguments":{"s":"a <tool_call> b </tool_call> c"}}`,
			want: []wantCall{{"p", `{"id":"1"}`, ""}, {"q", `{"s":"a <tool_call> b </tool_call> c"}`, ""}},
		},
		{
			name: "brace missing",
			text: `<tool_call>{"name":"code_interpreter","arguments":{"code":"print(1)"}`,
			want: []wantCall{{"", "", "1 closing bracket(s) missing"}},
		},
		{
			name: "raw line break in a string",
			text: "<tool_call>\n{\"name\":\"c\",\"arguments\":{\"code\":\"a\nb\"}}\n</tool_call>",
			want: []wantCall{{"", "", "line break inside a string"}},
		},
		{name: "bare JSON is text", text: " " + ok + " ", content: ok},
		{
			name:    "content around blocks, arguments verbatim",
			text:    "I run it.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"b\": 1.0, \"a\":1e3}}\n</tool_call>\nWait.",
			content: "I run it.\n\nWait.",
			want:    []wantCall{{"f", `{"b": 1.0, "a":1e3}`, ""}},
		},
		{
			name: "arguments as a string that holds an object",
			text: `<tool_call>{"name":"f","arguments":"{\"a\": 1}"}</tool_call>`,
			want: []wantCall{{"f", `{"a": 1}`, ""}},
		},
		{
			name: "arguments of other kinds do not run",
			text: `<tool_call>{"name":"f","arguments":"not json"}</tool_call><tool_call>{"name":"f","arguments":[1]}</tool_call>` +
				`<tool_call>{"name":"f","arguments":null}</tool_call><tool_call>{"name":"f"}</tool_call>`,
			want: []wantCall{{"f", "", "not a JSON object"}, {"f", "", "not a JSON object"}, {"f", "", "not a JSON object"}, {"f", "", `no "arguments"`}},
		},
		{
			name: "no call",
			text: `<tool_call></tool_call><tool_call>[]</tool_call><tool_call>{"name":1,"arguments":{}}</tool_call><tool_call>{"arguments":{}}</tool_call><tool_call>print(1)`,
			want: []wantCall{{"", "", "empty"}, {"", "", "JSON object with"}, {"", "", "JSON object with"}, {"", "", `no "name"`}, {"", "", "invalid JSON"}},
		},
		{
			name: "text behind a call is reported, the call runs",
			text: `<tool_call>` + ok + `}</tool_call>done`, content: "done",
			want: []wantCall{{"f", `{}`, ""}, {"", "", "was not: }"}},
		},
		{
			name: "a second object that is no call",
			text: `<tool_call>` + ok + ` {"x":1}</tool_call>`,
			want: []wantCall{{"f", `{}`, ""}, {"", "", `{"x":1}`}},
		},
		{name: "a cut opening tag is text", text: "a <tool_cal", content: "a <tool_cal"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			content, calls := ParseToolCalls(test.text)
			if content != test.content {
				t.Errorf("content %q, want %q", content, test.content)
			}
			if len(calls) != len(test.want) {
				t.Fatalf("%d entries, want %d: %v", len(calls), len(test.want), calls)
			}
			for i, want := range test.want {
				checkCall(t, i, calls[i], want)
			}
		})
	}
}

func checkCall(t *testing.T, i int, got ParsedCall, want wantCall) {
	t.Helper()
	if got.Call.Name != want.name || string(got.Call.Arguments) != want.arguments {
		t.Errorf("entry %d: %s(%s), want %s(%s)", i, got.Call.Name, got.Call.Arguments, want.name, want.arguments)
	}
	switch {
	case (got.Err == nil) != (want.err == ""):
		t.Errorf("entry %d: error %v, want %q", i, got.Err, want.err)
	case got.Err != nil && !strings.Contains(got.Err.Error(), want.err):
		t.Errorf("entry %d: error %q lacks %q", i, got.Err, want.err)
	}
}

func TestParseToolCallsBoundsTheirNumber(t *testing.T) {
	_, calls := ParseToolCalls(strings.Repeat(`<tool_call>{"name":"f","arguments":{}}`, 10*maxCalls))
	if len(calls) != maxCalls+1 || calls[maxCalls].Err == nil {
		t.Errorf("%d entries, want %d calls and an error", len(calls), maxCalls)
	}
	_, calls = ParseToolCalls("<tool_call>" + strings.Repeat(`{"name":"f","arguments":{}}`, 10*maxCalls))
	if len(calls) != maxCalls+1 || calls[maxCalls].Err == nil {
		t.Errorf("%d entries from one block, want %d calls and an error", len(calls), maxCalls)
	}
}

// A call that may run holds a JSON object that stands in the text, or in a
// string of it; a longer text never takes back the calls that it begins with.
func FuzzParseToolCalls(f *testing.F) {
	f.Add(`<tool_call>{"name":"f","arguments":{"a":1}}{"name":"g","arguments":{}}</tool_call> x`)
	f.Add(`<tool_call>{"name":"h","arguments":{"s":"unterminated</tool_call><tool_call>{"name":"k","arguments":"{}"}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, calls := ParseToolCalls(text)
		for _, c := range calls {
			var object map[string]json.RawMessage
			if c.Err == nil && (json.Unmarshal(c.Call.Arguments, &object) != nil || object == nil || c.Call.Name == "") {
				t.Errorf("call without name or object: %+v", c)
			}
		}
		if !strings.Contains(text, callOpen) && len(calls) > 0 {
			t.Errorf("calls without a tag: %v", calls)
		}
	})
}
