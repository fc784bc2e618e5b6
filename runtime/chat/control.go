package chat

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// controlSet finds control tokens (special=true) in text: the leftmost, and
// the longest of those that begin at the same place.
type controlSet struct {
	tokens []addedToken // longest first
	firsts string       // the first bytes that occur
}

func (c *controlSet) add(a addedToken) { c.tokens = append(c.tokens, a) }

func (c *controlSet) finish() {
	slices.SortStableFunc(c.tokens, func(a, b addedToken) int { return len(b.Content) - len(a.Content) })
	seen := map[byte]bool{}
	for _, a := range c.tokens {
		if !seen[a.Content[0]] {
			seen[a.Content[0]] = true
			c.firsts += a.Content[:1]
		}
	}
}

// find returns the first control token of text and where its own characters
// begin; nil: there is none.
func (c *controlSet) find(text string) (int, *addedToken) {
	for at := 0; at < len(text); at++ {
		if strings.IndexByte(c.firsts, text[at]) < 0 {
			continue
		}
		for i := range c.tokens {
			if strings.HasPrefix(text[at:], c.tokens[i].Content) {
				return at, &c.tokens[i]
			}
		}
	}
	return 0, nil
}

// next is find with the white space that the token swallows (lstrip, rstrip)
// counted into [start, end).
func (c *controlSet) next(text string) (start, end int, control *addedToken) {
	start, control = c.find(text)
	if control == nil {
		return 0, 0, nil
	}
	end = start + len(control.Content)
	if control.LStrip {
		start = len(strings.TrimRightFunc(text[:start], unicode.IsSpace))
	}
	if control.RStrip {
		end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
	}
	return start, end, control
}

// guarded returns text with the guard rune set after the first rune of every
// control token that it spells, so that no later search finds one.
func (c *controlSet) guarded(text string, guard rune) string {
	var out strings.Builder
	for {
		at, control := c.find(text)
		if control == nil {
			break
		}
		// Only the first rune is passed: a second token may begin inside.
		_, size := utf8.DecodeRuneInString(text[at:])
		out.WriteString(text[:at+size])
		out.WriteRune(guard)
		text = text[at+size:]
	}
	if out.Len() == 0 {
		return text
	}
	out.WriteString(text)
	return out.String()
}

// unguard removes the guard runes again.
func unguard(text string, guard rune) string {
	if guard == 0 || !strings.ContainsRune(text, guard) {
		return text
	}
	return strings.ReplaceAll(text, string(guard), "")
}

// freeRune returns a private-use rune that used does not report, for guards.
func freeRune(used func(rune) bool) (rune, bool) {
	for r := rune(0xE000); r <= 0xF8FF; r++ {
		if !used(r) {
			return r, true
		}
	}
	return 0, false
}
