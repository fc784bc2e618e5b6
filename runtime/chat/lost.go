package chat

import "strings"

// lost says whether a message's content, or the name of a tool that it calls,
// does not stand in what was written for it: as it is but for white space
// around it, or as JSON text. What a template cuts out as reasoning, up to a
// first </think>, is not missed.
func (b *builder) lost(msg Message, text string, w written) bool {
	where := text
	if !w.empty() && !w.scattered {
		where = text[w.from:w.to]
	}
	for _, call := range msg.ToolCalls {
		if !b.shown(call.Name, where) {
			return true
		}
	}
	if b.shown(msg.Content, where) {
		return false
	}
	_, answer, found := strings.Cut(msg.Content, thinkClose)
	return msg.Role != "assistant" || !found || msg.NoReasoning || !b.shown(answer, where)
}

// shown says whether a text stands in another one.
func (b *builder) shown(text, where string) bool {
	guarded := b.controls.guarded(validText(strings.TrimSpace(text)), b.guard)
	if strings.Contains(where, guarded) {
		return true
	}
	for _, ascii := range []bool{false, true} {
		w := pyJSON{guard: b.guard, ascii: ascii}
		w.quote(guarded)
		if quoted := w.out.String(); strings.Contains(where, quoted[1:len(quoted)-1]) {
			return true
		}
	}
	return false
}
