package judge

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// shown is how many bytes of a value a detail line quotes.
const shown = 60

// quote renders a value for a detail line: one line, cut, control characters
// escaped.
func quote(s string) string {
	escaped := strconv.Quote(cut(s, shown))
	return "'" + strings.ReplaceAll(escaped[1:len(escaped)-1], `\"`, `"`) + "'"
}

// cut shortens s to about limit bytes without splitting a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
