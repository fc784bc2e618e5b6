package chat

import "testing"

func TestSplitThinking(t *testing.T) {
	const draft = "def f(x):\n    return x+1  # no\n```python\ndef f(x): return 0\n```\n"
	tests := []struct {
		name, text        string
		thinking          bool
		reasoning, answer string
		closed            bool
	}{
		{"case 17: opener in the prompt", "because\n</think>\n\nans", true, "because", "ans", true},
		{"case 17: first tag counts", "<think>\nr\n</think>\n\nthe tag </think> ends it", true, "r", "the tag </think> ends it", true},
		{"case 35: draft in the reasoning", draft + "</think>\n\ndef f(x):\n    return x*2", true, draft[:len(draft)-1], "def f(x):\n    return x*2", true},
		{"case 35: the same, mode off", draft + "</think>\n\ndef f(x):\n    return x*2", false, draft[:len(draft)-1], "def f(x):\n    return x*2", true},
		{"case 35: never closed, mode on", draft, true, draft[:len(draft)-1], "", false},
		{"case 35: never closed, mode off", draft, false, "", draft, true},
		{"opened and never closed, mode off", "\n<think>\nhm", false, "hm", "", false},
		{"empty block", "<think>\n\n</think>\n\nx", false, "", "x", true},
		{"tag in a call's arguments, mode off", `<tool_call>{"a":"</think>"}`, false, "", `<tool_call>{"a":"</think>"}`, true},
		{"call drafted in the reasoning", "<tool_call>{}</tool_call>\n</think>\n\nx", true, "<tool_call>{}</tool_call>", "x", true},
		{"nothing", "", false, "", "", true},
		{"nothing yet", "", true, "", "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			reasoning, answer, closed := SplitThinking(test.text, test.thinking)
			if reasoning != test.reasoning || answer != test.answer || closed != test.closed {
				t.Errorf("got %q, %q, %v", reasoning, answer, closed)
			}
		})
	}
}
