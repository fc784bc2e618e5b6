package chat

import (
	"strings"
	"unicode/utf8"
)

// Decode returns the text of ids. Control tokens (special=true) are left out
// unless keepControl asks for them; <think> or <tool_call>, which are added
// but not special in the Qwen3 family, are always kept. Invalid UTF-8 becomes
// U+FFFD, once for each maximal invalid part.
func (m *Model) Decode(ids []int32, keepControl bool) string {
	var p []byte
	for _, id := range ids {
		if keepControl || !m.tok.special[id] {
			p = m.tok.bytes(p, id)
		}
	}
	return validText(string(p))
}

// Stream decodes one sequence token by token: the texts that Push and Flush
// return add up to Decode of the whole. It is not safe for concurrent use.
type Stream struct {
	tok         *tokenizer
	keepControl bool
	held        []byte // a rune's first bytes
}

// NewStream begins a sequence; keepControl as in Decode.
func (m *Model) NewStream(keepControl bool) *Stream {
	return &Stream{tok: m.tok, keepControl: keepControl}
}

// Push adds one token and returns the text that it completes. The first bytes
// of an unfinished rune are held back until a later token completes or breaks
// it.
func (s *Stream) Push(id int32) string {
	if !s.keepControl && s.tok.special[id] {
		return ""
	}
	return s.push(s.tok.bytes(s.held, id))
}

func (s *Stream) push(p []byte) string {
	var out strings.Builder
	s.held = append([]byte(nil), appendLossy(&out, p)...)
	return out.String()
}

// Flush ends the sequence: an unfinished rune still held becomes one U+FFFD.
func (s *Stream) Flush() string {
	if len(s.held) == 0 {
		return ""
	}
	s.held = nil
	return string(utf8.RuneError)
}
