package runtime

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/runtime/weights"
)

// openChat reads the tokenizer that a checkpoint brings. Its refusal is one of
// the checkpoint.
func openChat(c *weights.Checkpoint) (*chat.Model, error) {
	m, err := readChat(c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", weights.ErrBadCheckpoint, err)
	}
	return m, nil
}

func readChat(c *weights.Checkpoint) (*chat.Model, error) {
	if v := c.Vocabulary(); v != nil {
		return chat.FromVocabulary(chat.Vocabulary{
			Model: v.Model, Pre: v.Pre, Tokens: v.Tokens, Types: v.Types, Merges: v.Merges,
			BOS: v.BOS, EOS: v.EOS, PAD: v.PAD, AddBOS: v.AddBOS, ChatTemplate: v.ChatTemplate,
		})
	}
	if info, err := os.Stat(c.Path()); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s holds no tokenizer: %w", c.Path(), fs.ErrNotExist)
	}
	return chat.LoadFolder(c.Path())
}

// text turns one generation's tokens into text and ends it at a stop text.
type text struct {
	stream *chat.Stream
	stops  []string
	held   string // decoded, but perhaps the beginning of a stop text
	ended  bool   // by a stop text
	all    strings.Builder
}

// newText returns nil for a model without a usable tokenizer, whose ids need
// none.
func (e *Engine) newText(stops []string) (*text, error) {
	m, err := e.Chat()
	switch {
	case errors.Is(err, ErrClosed):
		return nil, err
	case err != nil && len(stops) > 0:
		return nil, fmt.Errorf("stop texts need a tokenizer: %w", err)
	case err != nil:
		return nil, nil
	}
	return &text{stream: m.NewStream(true), stops: stops}, nil
}

// add decodes a token. It returns the text that is safe to show, and whether a
// stop text is complete; the stop text and what follows it are dropped.
func (t *text) add(id int32) (safe string, stopped bool) {
	t.held += t.stream.Push(id)
	if at := firstOf(t.held, t.stops); at >= 0 {
		safe, t.held, t.ended = t.held[:at], "", true
		t.all.WriteString(safe)
		return safe, true
	}
	keep := beginning(t.held, t.stops)
	safe, t.held = t.held[:len(t.held)-keep], t.held[len(t.held)-keep:]
	t.all.WriteString(safe)
	return safe, false
}

// flush returns what was held back, at the end.
func (t *text) flush() string {
	if t.ended {
		return ""
	}
	rest := t.held + t.stream.Flush()
	t.held = ""
	t.all.WriteString(rest)
	return rest
}

// firstOf is where the first of the stops begins in s; -1: nowhere.
func firstOf(s string, stops []string) int {
	first := -1
	for _, stop := range stops {
		if at := strings.Index(s, stop); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// beginning is the length of the longest end of s with which a stop begins.
func beginning(s string, stops []string) int {
	longest := 0
	for _, stop := range stops {
		for n := min(len(stop)-1, len(s)); n > longest; n-- {
			if strings.HasSuffix(s, stop[:n]) {
				longest = n
			}
		}
	}
	return longest
}
