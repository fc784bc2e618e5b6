package pyvalue

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Plain reads literals of the form that repr and json.dumps give strings, and
// writes them as JSON in the same pass, for texts too long and many to take
// apart first. Each method reports false where it meets anything else; the text
// may still be a literal then, for [Literals.Parse] to say.
type Plain struct {
	parser literalParser
}

// Plain begins to read text. Values that were parsed before are no longer valid.
func (l *Literals) Plain(text string) Plain {
	return Plain{literalParser{text: text, names: &l.names, buf: l.buf[:0]}}
}

// Next passes a bracket, comma or colon and the blanks and line ends after it.
// It must not be used outside of brackets, where line ends count.
func (p *Plain) Next(c byte) bool {
	if !p.parser.next(c) {
		return false
	}
	p.blanks()
	return true
}

func (p *Plain) blanks() {
	for q := &p.parser; q.at < len(q.text) && (q.text[q.at] == ' ' || q.text[q.at] == '\n'); {
		q.at++
	}
}

// Last passes a bracket that must be all that is left.
func (p *Plain) Last(c byte) bool { return p.parser.next(c) && p.parser.at == len(p.parser.text) }

// Key reads a short string without escapes, and the blanks after it.
func (p *Plain) Key() (string, bool) {
	rest := p.parser.text[p.parser.at:]
	if rest == "" || (rest[0] != '"' && rest[0] != '\'') {
		return "", false
	}
	n := plainRun(rest, 1)
	// Two quotes at once may be the first of three.
	if n == 1 || n == len(rest) || rest[n] != rest[0] {
		return "", false
	}
	p.parser.at += n + 1
	p.blanks()
	return rest[1:n], true
}

// AppendJSON reads a string or None, and the blanks after it, and appends what
// json.dumps makes of it.
func (p *Plain) AppendJSON(b []byte) ([]byte, bool) {
	rest, ok := p.parser.text[p.parser.at:], true
	switch {
	case strings.HasPrefix(rest, "None"):
		p.parser.at += len("None")
		b = append(b, "null"...)
	case rest == "" || (rest[0] != '"' && rest[0] != '\''), strings.HasPrefix(rest, `'''`), strings.HasPrefix(rest, `"""`):
		return b, false
	default:
		b, ok = p.appendString(b, rest)
	}
	p.blanks()
	return b, ok
}

// appendString reads the string at the start of s. The escapes that both
// languages share, nearly all there are, are copied along with what is between.
func (p *Plain) appendString(b []byte, s string) ([]byte, bool) {
	quote := s[0]
	b = append(b, '"')
	start, i := 1, 1
	for {
		if i = plainRun(s, i); i+1 >= len(s) && (i >= len(s) || s[i] != quote) {
			return b, false
		}
		switch c := s[i]; {
		case c == quote:
			p.parser.at += i + 1
			return append(append(b, s[start:i]...), '"'), true
		case c == '\'':
			i++
			continue
		case c == '\\' && sharedEscape(s[i+1]):
			i += 2
			continue
		}
		b = append(b, s[start:i]...)
		n, ok := 0, false
		if b, n, ok = p.appendOdd(b, s[i:]); !ok {
			return b, false
		}
		i += n
		start = i
	}
}

// sharedEscape reports whether a backslash and c are the same in both languages,
// and what json.dumps would choose.
func sharedEscape(c byte) bool {
	switch c {
	case 'n', 'r', 't', 'b', 'f', '\\', '"':
		return true
	}
	return false
}

// appendOdd reads what stands differently in JSON, and returns its length.
func (p *Plain) appendOdd(b []byte, s string) ([]byte, int, bool) {
	c := s[0]
	switch {
	case c == '\\':
		q := &p.parser
		q.buf = q.buf[:0]
		n, err := q.escape(s, false)
		return appendInside(b, unsafe.String(unsafe.SliceData(q.buf), len(q.buf))), n, err == nil
	case c == 0 || c == '\n' || c == '\r':
		return b, 0, false
	case c < utf8.RuneSelf:
		return appendControl(b, c), 1, true
	}
	r, n := utf8.DecodeRuneInString(s)
	return AppendEscape(b, r), n, n > 1
}

// plainRun passes, from i on, ASCII that a string has as it is whatever its
// quotes, eight bytes at a time, and returns where that ends.
func plainRun(s string, i int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		double, single, slash := x^'"'*ones, x^'\''*ones, x^'\\'*ones
		// A byte's high bit: it is 0x7f or more; below a blank; or one of those.
		// A carry makes wrong ones only above a right one.
		odd := (x + ones | x |
			(x-' '*ones)&^x |
			(double-ones)&^double |
			(single-ones)&^single |
			(slash-ones)&^slash) & highs
		if odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] < 0x7f && b[i] != '"' && b[i] != '\'' && b[i] != '\\' {
		i++
	}
	return i
}
