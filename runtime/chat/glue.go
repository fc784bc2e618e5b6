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
	mark := absentText(history, replies)
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

// absentText returns a text that occurs in none of the messages.
func absentText(lists ...[]Message) string {
	for n := 0; ; n++ {
		mark := fmt.Sprintf("[sampled turn %d]", n)
		taken := slices.ContainsFunc(lists, func(messages []Message) bool {
			return slices.ContainsFunc(messages, func(msg Message) bool { return strings.Contains(msg.Content, mark) })
		})
		if !taken {
			return mark
		}
	}
}
