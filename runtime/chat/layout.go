package chat

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// normalise rewrites a chat template so that the engine renders it as
// transformers does. It applies Jinja's white-space rules as transformers sets
// them (trim_blocks, lstrip_blocks, marks - and +), which the engine applies
// to text that does not touch the tag too, and turns all text into string
// literals that no rule changes any more. It drops comments, resolves the
// escapes of string literals, of which the engine knows few, keeps variables
// inside loops, and names our own filters.
func normalise(source string) string {
	var l layout
	return l.rewrite(source)
}

// normaliseTraced is normalise with the calls that a [trace] follows.
func normaliseTraced(source string) string {
	l := layout{loops: loops{traced: true}}
	return l.rewrite(source)
}

func (l *layout) rewrite(source string) string {
	source = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source)
	l.rest, l.lineStart = strings.TrimSuffix(source, "\n"), true
	for l.rest != "" {
		l.step()
	}
	return strings.Join(l.pieces, "")
}

// layout is a pass over a template.
type layout struct {
	rest      string
	pieces    []string // of the result
	loops     loops
	lineStart bool // what was last consumed ends a line, or nothing was yet
}

// step consumes text up to the next tag, and the tag.
func (l *layout) step() {
	open := tagStart(l.rest)
	if open < 0 {
		l.text(l.rest)
		l.rest = ""
		return
	}
	text, tag := l.rest[:open], l.rest[open:open+tagLength(l.rest[open:])]
	l.rest = l.rest[open+len(tag):]
	l.text(l.trimBefore(text, tag))
	if rawTag(tag) {
		l.raw(tag)
		return
	}
	l.tag(bare(tag))
	l.swallow(tag)
}

// tag writes a tag. What an expression prints passes through our string filter,
// so that numbers and None look as in Python.
func (l *layout) tag(tag string) {
	if tag[1] == '{' && strings.HasSuffix(tag, "}}") && strings.TrimSpace(tag[2:len(tag)-2]) != "" {
		tag = "{{ (" + tag[2:len(tag)-2] + ") | string }}"
	}
	if tag[1] != '#' {
		l.pieces = append(l.pieces, rewriteTag(tag))
	}
	if tag[1] == '%' {
		l.loops.statement(l.pieces, words(tag))
	}
}

// text writes text as an expression.
func (l *layout) text(s string) {
	if s != "" {
		l.pieces = append(l.pieces, "{{ "+stringLiteral(s)+" }}")
	}
}

// trimBefore applies a tag's rules to the text that it touches.
func (l *layout) trimBefore(text, tag string) string {
	switch mark := tag[2]; {
	case mark == '-':
		return strings.TrimRightFunc(text, unicode.IsSpace)
	case mark == '+' || tag[1] == '{':
		return text
	}
	line := strings.LastIndexByte(text, '\n') + 1
	if (line > 0 || l.lineStart) && strings.Trim(text[line:], " \t") == "" {
		return text[:line]
	}
	return text
}

// swallow applies a tag's rules to the text behind it.
func (l *layout) swallow(tag string) {
	before := l.rest
	switch mark := endMark(tag); {
	case mark == '-':
		l.rest = strings.TrimLeftFunc(l.rest, unicode.IsSpace)
	case mark != '+' && tag[1] != '{':
		l.rest = strings.TrimPrefix(l.rest, "\n")
	}
	l.lineStart = strings.HasSuffix(before[:len(before)-len(l.rest)], "\n")
}

// raw writes what stands up to endraw as text.
func (l *layout) raw(tag string) {
	if endMark(tag) == '-' {
		l.rest = strings.TrimLeftFunc(l.rest, unicode.IsSpace)
	}
	end := regexp.MustCompile(`\{%[-+]?\s*endraw\s*[-+]?%\}`).FindStringIndex(l.rest)
	if end == nil {
		l.pieces = append(l.pieces, bare(tag)) // the engine reports it
		return
	}
	text, tag := l.rest[:end[0]], l.rest[end[0]:end[1]]
	l.rest = l.rest[end[1]:]
	l.text(l.trimBefore(text, tag))
	l.swallow(tag)
}

func rawTag(tag string) bool {
	return tag[1] == '%' && strings.TrimSpace(strings.Trim(tag, "{}%-+")) == "raw"
}

// endMark is the mark before a tag's end: '-', '+' or another character.
func endMark(tag string) byte {
	if len(tag) < 5 {
		return 0
	}
	return tag[len(tag)-3]
}

// bare removes a tag's marks.
func bare(tag string) string {
	if len(tag) > 4 && (tag[2] == '-' || tag[2] == '+') {
		tag = tag[:2] + " " + tag[3:]
	}
	if end := endMark(tag); end == '-' || end == '+' {
		tag = tag[:len(tag)-3] + " " + tag[len(tag)-2:]
	}
	return tag
}

// tagStart finds the next {{, {% or {# that has room for a tag; -1: none.
func tagStart(source string) int {
	for i := 0; i+2 < len(source); i++ {
		if source[i] == '{' && strings.IndexByte("{%#", source[i+1]) >= 0 {
			return i
		}
	}
	return -1
}

// tagLength is the length of the tag that source begins with, its end included;
// ends inside string literals do not count. A tag without an end takes all.
func tagLength(source string) int {
	end := map[byte]string{'{': "}}", '%': "%}", '#': "#}"}[source[1]]
	for i := 2; i < len(source); {
		switch {
		case strings.HasPrefix(source[i:], end):
			return i + len(end)
		case end != "#}" && (source[i] == '\'' || source[i] == '"'):
			i += literalLength(source[i:])
		default:
			i++
		}
	}
	return len(source)
}

// literalLength is the length of the string literal that source begins with.
func literalLength(source string) int {
	for i := 1; i < len(source); i++ {
		switch source[i] {
		case '\\':
			i++
		case source[0]:
			return i + 1
		}
	}
	return len(source)
}

// rewriteTag rewrites a tag's string literals and the filters that it applies.
func rewriteTag(tag string) string {
	var out strings.Builder
	piped := false // the last thing but white space was a |
	for i := 0; i < len(tag); {
		word := tag[i : i+1]
		switch c := tag[i]; {
		case c == '\'' || c == '"':
			word = tag[i : i+literalLength(tag[i:])]
			out.WriteString(stringLiteral(unescape(word)))
		case wordByte(c):
			word = tag[i : i+wordLength(tag[i:])]
			if piped {
				out.WriteString(ownFilter(word))
			} else {
				out.WriteString(word)
			}
		default:
			out.WriteString(word)
		}
		if strings.TrimSpace(word) != "" {
			piped = word == "|"
		}
		i += len(word)
	}
	return out.String()
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func wordLength(s string) int {
	n := 0
	for n < len(s) && wordByte(s[n]) {
		n++
	}
	return n
}

// stringLiteral writes text as a literal that the engine reads back as it is.
func stringLiteral(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// unescape reads a template's string literal, quotes included, as Python does.
func unescape(literal string) string {
	s := strings.TrimSuffix(literal[1:], literal[:1])
	var out strings.Builder
	for s != "" {
		if len(s) > 1 && s[0] == '\\' && strings.IndexByte("'\"\n", s[1]) >= 0 {
			out.WriteString(strings.Trim(s[1:2], "\n"))
			s = s[2:]
			continue
		}
		r, _, tail, err := strconv.UnquoteChar(s, 0)
		if err != nil { // an escape that Python does not know either stays
			r, tail = rune(s[0]), s[1:]
		}
		out.WriteRune(r)
		s = tail
	}
	return out.String()
}
