package examples

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coderl/cr/runtime/chat"
)

const thinkEnd = "</think>"

// stripped takes the reasoning out of a conversation.
func stripped(messages []chat.Message) []chat.Message {
	messages = slices.Clone(messages)
	for i := range messages {
		msg := &messages[i]
		if msg.Role != "assistant" {
			continue
		}
		if msg.Reasoning == "" && !msg.NoReasoning {
			_, msg.Content, _ = chat.SplitThinking(msg.Content, false)
		}
		msg.Reasoning, msg.NoReasoning = "", false
	}
	return messages
}

// reasoning is what a message thinks before it answers.
func reasoning(msg chat.Message) string {
	if msg.Reasoning != "" || msg.NoReasoning {
		return msg.Reasoning
	}
	if !strings.Contains(msg.Content, thinkEnd) {
		return ""
	}
	thought, _, _ := chat.SplitThinking(msg.Content, false)
	return thought
}

// checkThinking finds reasoning that the template does not show where every
// turn's is wanted.
func (m *Maker) checkThinking(messages []chat.Message, l chat.Labelled) error {
	if m.options.Thinking != ThinkingAll {
		return nil
	}
	for i, msg := range messages {
		if msg.Role != "assistant" {
			continue
		}
		shown := m.model.Decode(l.IDs[l.Turns[i].All.From:l.Turns[i].All.To], true)
		if !strings.Contains(shown, strings.TrimSpace(reasoning(msg))) {
			return fmt.Errorf("message %d: the chat template drops its reasoning", i)
		}
	}
	return nil
}
