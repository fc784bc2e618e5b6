package chat

import "strings"

// The tags around a model's reasoning.
const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// SplitThinking separates an assistant's reasoning from its answer by one
// rule: the reasoning ends at the first </think>; its opener is optional, as
// the prompt may have carried it. closed is false if the reasoning never ends,
// so that there is no answer.
//
// thinking says that the turn was sampled in thinking mode: then text without
// </think> is all reasoning. Otherwise such text is all answer, unless it
// begins with <think>; and a </think> behind a <tool_call>, without any opener
// before, belongs to the call's arguments and ends nothing.
//
// Tool calls count in the answer alone: pass the answer to ParseToolCalls.
func SplitThinking(text string, thinking bool) (reasoning, answer string, closed bool) {
	body, opened := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), thinkOpen)
	if !opened {
		body = text
	}
	before, after, found := strings.Cut(body, thinkClose)
	inCall := found && !thinking && !opened && strings.Contains(before, callOpen)
	switch {
	case found && !inCall:
		return strings.Trim(before, "\n"), strings.TrimLeft(after, "\n"), true
	case thinking || opened:
		return strings.Trim(body, "\n"), "", false
	}
	return "", text, true
}
