package logs

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// field is one "key:value" of a metric line.
type field struct {
	key   string
	text  string // the value as it stands
	value float64
	kind  parsed
	cut   bool // text follows the value directly: the line never ended
}

// stepLine is one metric line: step:N - key:value - key:value …
type stepLine struct {
	step   int64
	fields []field
	torn   bool   // something in it is no field: another process's output, or the line's end is missing
	tail   string // what is no field
}

// parseSteps finds the metric lines in one physical line: usually one behind a
// prefix, several where processes wrote over each other.
func parseSteps(line string) []stepLine {
	var found []stepLine
	starts := stepStarts(line)
	for i, start := range starts {
		end := len(line)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		if s, ok := parseStep(line[start:end], i+1 < len(starts)); ok {
			found = append(found, s)
		}
	}
	return found
}

// stepStarts are the places where "step:N" begins a metric line: "step" is not
// the end of a longer name such as training/global_step, and N is followed by a
// field or nothing.
func stepStarts(line string) []int {
	var starts []int
	for from := 0; ; {
		at := strings.Index(line[from:], "step:")
		if at < 0 {
			return starts
		}
		at += from
		from = at + len("step:")
		digits := from
		for digits < len(line) && line[digits] >= '0' && line[digits] <= '9' {
			digits++
		}
		ends := digits == len(line) || strings.HasPrefix(line[digits:], " - ")
		if digits > from && digits-from <= 15 && ends && !insideName(line[:at]) {
			starts = append(starts, at)
		}
	}
}

// insideName says whether what follows before continues a name.
func insideName(before string) bool {
	if before == "" {
		return false
	}
	c := before[len(before)-1]
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("_/-@", c) >= 0
}

// parseStep reads "step:N - …"; ok is false where no field follows, and true where
// the only one is torn and left out. glued says
// that another metric line follows on the same physical line.
func parseStep(text string, glued bool) (s stepLine, ok bool) {
	parts := strings.Split(strings.TrimRight(text, " "), " - ")
	for _, c := range parts[0][len("step:"):] {
		s.step = s.step*10 + int64(c-'0')
	}
	for _, part := range parts[1:] {
		f, isField := parseField(part)
		if !isField {
			s.torn, s.tail = true, part
			break // what another process printed; fields behind it are its own
		}
		s.fields = append(s.fields, f)
	}
	had := len(s.fields) > 0
	if n := len(s.fields); n > 0 && (s.fields[n-1].cut || glued && !strings.HasSuffix(text, " ") && endsInValue(text)) {
		s.torn, s.tail = true, s.fields[n-1].key
		s.fields = s.fields[:n-1]
	}
	return s, had
}

// endsInValue says whether the text ends where a value's digits may go on.
func endsInValue(text string) bool {
	c := text[len(text)-1]
	return c >= '0' && c <= '9' || c == '.' || c == '-' || c == ':'
}

// parseField reads "key:value", with or without other text behind the value.
func parseField(part string) (f field, ok bool) {
	if f, ok = splitField(part); ok && f.kind != notNumber {
		return f, true
	}
	// "0.5 [repeated 3x across cluster]" and "0.5(TaskRunner pid=1)": the value ends
	// at the first blank or bracket that a number cannot have.
	for _, end := range []string{" ", "(", "[", "\"", "'"} {
		at := strings.Index(part, end)
		if at <= 0 {
			continue
		}
		if short, isShort := splitField(part[:at]); isShort && short.kind != notNumber {
			short.cut = end == "(" || end == "[" // a quote closes what was printed
			return short, true
		}
	}
	return f, ok && !strings.Contains(f.text, " ")
}

func splitField(part string) (f field, ok bool) {
	colon := strings.LastIndexByte(part, ':')
	if colon <= 0 {
		return field{}, false
	}
	f.key, f.text = part[:colon], part[colon+1:]
	if !isKey(f.key) || strings.HasPrefix(f.text, " ") {
		return field{}, false
	}
	f.value, f.kind = parseNumber(f.text)
	return f, true
}

// maxKey is the longest name of a metric that is accepted.
const maxKey = 512

// isKey says whether text can name a metric: it begins with a letter and is
// printable; blanks occur only inside the name of a data source, between slashes.
func isKey(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	if len(text) > maxKey || !unicode.IsLetter(first) && first != '_' || !utf8.ValidString(text) {
		return false
	}
	for _, c := range text {
		if !unicode.IsPrint(c) {
			return false
		}
	}
	return !strings.Contains(text, " ") || strings.Contains(text, "/") && !strings.ContainsAny(text, "{}=\"") && !strings.HasSuffix(text, " ")
}

// withoutEscapes is the line without what is for the terminal: colours, cursor
// movements, titles, character sets.
func withoutEscapes(line []byte) []byte {
	if bytes.IndexByte(line, 0x1b) < 0 {
		return line
	}
	out := make([]byte, 0, len(line))
	for len(line) > 0 {
		if line[0] == 0x1b {
			line = line[escapeLength(line):]
			continue
		}
		out = append(out, line[0])
		line = line[1:]
	}
	return out
}

// escapeLength is the length of the escape sequence that begins text, by ECMA-48.
func escapeLength(text []byte) int {
	if len(text) < 2 {
		return len(text)
	}
	end := 2
	switch c := text[1]; {
	case c == '[': // parameters, then a letter
		for end < len(text) && (text[end] < 0x40 || text[end] > 0x7e) {
			end++
		}
		return min(end+1, len(text))
	case c == ']' || c == 'P' || c == '^' || c == '_': // a string, to BEL or ESC \
		for end < len(text) && text[end] != 0x07 && text[end] != 0x1b {
			end++
		}
		if end < len(text) && text[end] == 0x1b {
			end++
		}
		return min(end+1, len(text))
	case c >= 0x20 && c <= 0x2f: // intermediates, then a letter
		for end < len(text) && text[end] >= 0x20 && text[end] <= 0x2f {
			end++
		}
		return min(end+1, len(text))
	}
	return end
}

// withoutPrefix is the line without Ray's "(TaskRunner pid=123, ip=10.0.0.1) ".
func withoutPrefix(line string) string {
	trimmed := strings.TrimLeft(line, " ")
	if !strings.HasPrefix(trimmed, "(") {
		return line
	}
	end := strings.IndexByte(trimmed, ')')
	if end < 0 || !strings.Contains(trimmed[:end], " pid=") {
		return line
	}
	return strings.TrimPrefix(trimmed[end+1:], " ")
}
