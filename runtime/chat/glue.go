package chat

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ReplyIDs gives the ids that follow a sampled assistant turn: what the
// template writes after the turn's end token, the replies, and the opening of
// the next assistant turn if o asks for it. Appending them to the sampled ids
// keeps those as sampled, where a rendering of the whole would re-tokenise
// them.
//
// history are the messages before the sampled turn, tools those of the
// opening, replies the messages that answer it. ended says that the sampled
// ids end with EndOfTurn; a turn that was cut short is closed here, so that
// the glue begins with that token.
func (m *Model) ReplyIDs(history []Message, tools []Tool, replies []Message, ended bool, o RenderOptions) ([]int32, error) {
	mark := absentText(slices.Concat(history, replies), tools)
	messages := slices.Concat(history, []Message{{Role: "assistant", Content: mark}}, replies)
	messages, err := m.adapt(messages, tools)
	if err != nil {
		return nil, err
	}
	text, guard, err := m.renderGuarded(messages, m.visibleTools(tools), o)
	if err != nil {
		return nil, err
	}
	_, glue, ok := strings.Cut(text, mark)
	if !ok {
		return nil, errors.New("the chat template does not show an assistant's content")
	}
	ids := m.tok.appendTemplate(nil, glue, guard)
	if end, ok := m.EndOfTurn(); ended && ok && len(ids) > 0 && ids[0] == end {
		ids = ids[1:]
	}
	return ids, nil
}

// absentText returns a text that occurs nowhere in the conversation.
func absentText(messages []Message, tools []Tool) string {
	for n := 0; ; n++ {
		mark, taken := fmt.Sprintf("[sampled turn %d]", n), false
		for text := range texts(messages, tools) {
			taken = taken || strings.Contains(text, mark)
		}
		if !taken {
			return mark
		}
	}
}
