package agent

import (
	"fmt"
	"unicode/utf8"
)

// Clip shortens text to at most limit characters (Unicode code points): its
// head and its tail stay, and a marker between them says how many characters
// are missing. The tail is kept because tracebacks end with their cause.
// A limit too small for the marker keeps the tail alone.
func Clip(text string, limit int) string {
	total := utf8.RuneCountInString(text)
	if total <= limit {
		return text
	}
	runes := []rune(text)
	// The marker's own length depends on the number in it; its longest form
	// bounds it.
	room := limit - len(clipMarker(total))
	if room < 2 {
		return string(runes[total-max(limit, 0):])
	}
	head := (room + 1) / 2
	tail := room - head
	return string(runes[:head]) + clipMarker(total-room) + string(runes[total-tail:])
}

func clipMarker(missing int) string {
	return fmt.Sprintf("\n[... %d characters cut ...]\n", missing)
}
