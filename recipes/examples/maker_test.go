package examples

import (
	"strings"
	"testing"

	"github.com/coderl/cr/datasets/sft"
)

// trainedText is what an example trains, its spans side by side.
func trainedText(t *testing.T, o Options, row string) string {
	t.Helper()
	m, _ := bare(t)
	maker, err := NewMaker(m, o)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	err = sft.Read(t.Context(), file(t, row), sft.DefaultColumns(), func(row sft.Row) error {
		e, _, err := maker.Make(row)
		for _, s := range e.Trained {
			texts = append(texts, m.Decode(e.IDs[s.From:s.To], true))
		}
		return err
	})
	if err != nil {
		return "error: " + err.Error()
	}
	return strings.Join(texts, "|")
}

func TestWhatIsTrained(t *testing.T) {
	for name, c := range map[string]struct {
		options   Options
		row, want string
	}{
		"each answer, no more": {Options{}, `{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a"}, {"role": "assistant", "content": "x"}, ` +
			`{"role": "user", "content": "b"}, {"role": "assistant", "content": "y"}]}`, "x<|im_end|>|y<|im_end|>"},
		"verl's newline": {Options{Mask: MaskVerl}, `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "x"}, ` +
			`{"role": "user", "content": "b"}, {"role": "assistant", "content": "y"}]}`, "x<|im_end|>\n|y<|im_end|>\n"},
		"calls, not replies": {Options{}, `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": "{\"a\":1}"}}]}, ` +
			`{"role": "tool", "content": "r"}, {"role": "assistant", "content": "y"}]}`, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\":1}}\n</tool_call><|im_end|>|y<|im_end|>"},
		"a weight of 0": {Options{}, `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "x", "loss_mask": 0}, ` +
			`{"role": "user", "content": "b", "loss_mask": 0}, {"role": "assistant", "content": "y", "loss_mask": 1}]}`, "y<|im_end|>"},
		"a user's weight of 1": {Options{}, `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "x", "loss_mask": 0.0}, ` +
			`{"role": "user", "content": "b", "loss_mask": true}, {"role": "assistant", "content": "y", "loss_mask": null}]}`, "<|im_start|>user\nb<|im_end|>\n|y<|im_end|>"},
		"a system turn's weight": {
			Options{},
			`{"messages": [{"role": "system", "content": "s", "loss_mask": 1}, {"role": "user", "content": "a"}, {"role": "assistant", "content": "x"}]}`,
			"error: FILE: line 1: message 0: it has a loss_mask, but the chat template writes it among others",
		},
		"thinking kept":     {Options{}, `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "<think>\nw\n</think>\n\nx"}]}`, "<think>\nw\n</think>\n\nx<|im_end|>"},
		"thinking stripped": {Options{Thinking: ThinkingStrip}, `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "<think>\nw\n</think>\n\nx"}]}`, "x<|im_end|>"},
		"its field stripped": {
			Options{Thinking: ThinkingStrip},
			`{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "reasoning_content": "w", "content": "x"}]}`,
			"x<|im_end|>",
		},
		"another name for it": {Options{}, `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "reasoning": "w", "content": "x"}]}`, "<think>\nw\n</think>\n\nx<|im_end|>"},
		"thinking of all turns": {
			Options{Thinking: ThinkingAll},
			`{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "reasoning_content": "w", "content": "x"}]}`,
			"<think>\nw\n</think>\n\nx<|im_end|>",
		},
		"not of all turns": {Options{Thinking: ThinkingAll}, `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "reasoning_content": "w", "content": "x"}, ` +
			`{"role": "user", "content": "b"}, {"role": "assistant", "content": "y"}]}`, "error: FILE: line 1: message 1: the chat template drops its reasoning"},
		"JSON within JSON":    {Options{}, `{"messages": "[{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"assistant\", \"content\": \"x\"}]", "tools": ["{\"function\": {\"parameters\": {\"properties\": {}}}}"]}`, "x<|im_end|>"},
		"tools that are none": {Options{}, `{"messages": [{"role": "user", "content": "a"}], "tools": [1]}`, "error: FILE: line 1: tools: tool 0 is no schema"},
	} {
		got := trainedText(t, c.options, c.row)
		if i := strings.Index(got, "/"); strings.HasPrefix(got, "error: ") && i > 0 {
			got = "error: FILE" + got[strings.Index(got, "rows.jsonl")+len("rows.jsonl"):]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Case 52: of ids P1 P2 P3 R1 R2 E the loss terms are P3→R1, R1→R2, R2→E.
func TestRowsPredictTheNextToken(t *testing.T) {
	batches, err := Pack([]Example{{IDs: []int32{11, 12, 13, 21, 22, 2}, Trained: []Span{{3, 6}}}}, 6)
	if err != nil {
		t.Fatal(err)
	}
	b := batches[0]
	if len(batches) != 1 || !equal(b.Rows, 2, 3, 4) || !equal(b.Targets, 21, 22, 2) {
		t.Errorf("%+v", b)
	}
}
