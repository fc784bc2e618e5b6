package pyvalue

import (
	"strings"
	"unicode/utf8"
	"unsafe"
)

// strings reads adjacent string literals, which Python joins, and the space
// after them.
func (p *literalParser) strings() (Value, error) {
	v, err := p.string()
	for err == nil {
		if err = p.skipSpace(); err != nil || !p.atString() {
			return v, err
		}
		var more Value
		if more, err = p.string(); err == nil && more.Kind != v.Kind {
			err = p.fail("bytes beside a string")
		}
		v.Text += more.Text
	}
	return v, err
}

// atString reports whether a string literal begins here, with or without prefix.
func (p *literalParser) atString() bool {
	for i := p.at; i < len(p.text) && i <= p.at+2; i++ {
		switch c := p.text[i]; {
		case c == '"' || c == '\'':
			return true
		case !isLetter(c):
			return false
		}
	}
	return false
}

// stringPrefix consumes the letters before a quote.
func (p *literalParser) stringPrefix() (kind Kind, raw bool, err error) {
	start := p.at
	for isLetter(p.text[p.at]) || isDigit(p.text[p.at]) || p.text[p.at] >= utf8.RuneSelf {
		p.at++ // ends at the quote that the caller saw
	}
	switch strings.ToLower(p.text[start:p.at]) {
	case "", "u":
		return Str, false, nil
	case "r":
		return Str, true, nil
	case "b":
		return Bytes, false, nil
	case "br", "rb":
		return Bytes, true, nil
	}
	return Str, false, p.fail("a formatted or unknown kind of string")
}

// string reads one string literal.
func (p *literalParser) string() (Value, error) {
	kind, raw, err := p.stringPrefix()
	if err != nil {
		return Value{}, err
	}
	quote := p.text[p.at : p.at+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(p.text[p.at:], triple) {
		quote = triple
	}
	p.at += len(quote)
	start, end, escaped := p.at, 0, false
	if end, escaped, err = p.endOfString(quote); err != nil {
		return Value{}, err
	}
	text := p.text[start:end]
	if kind == Bytes && !isASCII(text) {
		return Value{}, p.fail("bytes with a character that is not ASCII")
	}
	if escaped && !raw {
		if text, err = p.unescape(text, kind == Bytes); err != nil {
			return Value{}, err
		}
	}
	p.at = end + len(quote)
	return Value{Kind: kind, Text: text}, nil
}

// endOfString finds the closing quote. It leaps from backslash to backslash:
// test cases are long strings, and most of the time of a build goes by here.
func (p *literalParser) endOfString(quote string) (end int, escaped bool, err error) {
	end = -1
	for at := p.at; ; {
		if end < at {
			next := strings.Index(p.text[at:], quote)
			if next < 0 {
				return 0, false, p.fail("a string without its closing quote")
			}
			end = at + next
		}
		backslash := strings.IndexByte(p.text[at:end], '\\')
		if backslash < 0 {
			break
		}
		escaped = true
		at += backslash + 2
	}
	if len(quote) == 1 && hasBareLineEnd(p.text[p.at:end]) {
		return 0, false, p.fail("a line end inside a string")
	}
	return end, escaped, nil
}

// hasBareLineEnd finds a line end without a backslash of its own before it.
func hasBareLineEnd(s string) bool {
	if strings.IndexByte(s, '\n') < 0 {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\n':
			return true
		}
	}
	return false
}

// unescape resolves the backslashes of a string. The result lies in buf, which
// only grows while a text is parsed.
func (p *literalParser) unescape(s string, isBytes bool) (string, error) {
	start := len(p.buf)
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			p.buf = append(p.buf, s...)
			return unsafe.String(unsafe.SliceData(p.buf[start:]), len(p.buf)-start), nil
		}
		p.buf = append(p.buf, s[:i]...)
		n, err := p.escape(s[i:], isBytes)
		if err != nil {
			return "", err
		}
		s = s[i+n:]
	}
}

// escape resolves the one at the start of s and returns its length. A backslash
// before anything else stays, as in Python.
func (p *literalParser) escape(s string, isBytes bool) (int, error) {
	c := s[1] // endOfString saw a character behind every backslash
	switch c {
	case '\n':
	case '\\', '\'', '"':
		p.buf = append(p.buf, c)
	case 'a', 'b', 'f', 'n', 'r', 't', 'v':
		p.buf = append(p.buf, controlEscape(c))
	case '0', '1', '2', '3', '4', '5', '6', '7':
		return p.octal(s, isBytes), nil
	case 'x':
		return p.hex(s, 2, isBytes)
	case 'u', 'U', 'N':
		if isBytes {
			p.buf = append(p.buf, '\\', c)
			return 2, nil
		}
		return p.unicode(s)
	default:
		p.buf = append(p.buf, '\\')
		return 1, nil
	}
	return 2, nil
}

func controlEscape(c byte) byte {
	switch c {
	case 'a':
		return '\a'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	default:
		return '\v'
	}
}

// octal resolves up to three digits; those beyond a byte wrap in bytes.
func (p *literalParser) octal(s string, isBytes bool) int {
	n, value := 1, 0
	for ; n < len(s) && n <= 3 && '0' <= s[n] && s[n] <= '7'; n++ {
		value = value*8 + int(s[n]-'0')
	}
	p.appendCode(rune(value), isBytes)
	return n
}

func (p *literalParser) unicode(s string) (int, error) {
	switch s[1] {
	case 'u':
		return p.hex(s, 4, false)
	case 'U':
		return p.hex(s, 8, false)
	}
	end := strings.IndexByte(s, '}')
	if len(s) < 3 || s[2] != '{' || end < 0 {
		return 0, p.fail(`\N without a name in braces`)
	}
	r, ok := p.names.find(s[3:end])
	if !ok {
		return 0, p.fail("no character of this name: " + s[3:end])
	}
	p.buf = utf8.AppendRune(p.buf, r)
	return end + 1, nil
}

// hex resolves exactly digits hexadecimal digits after two characters.
func (p *literalParser) hex(s string, digits int, isBytes bool) (int, error) {
	if len(s) < 2+digits {
		return 0, p.fail("an escape cut short")
	}
	value := rune(0)
	for i := 2; i < 2+digits; i++ {
		d, ok := hexDigit(s[i])
		if !ok {
			return 0, p.fail("an escape cut short")
		}
		if value = value<<4 | rune(d); value > utf8.MaxRune {
			return 0, p.fail("an escape beyond the last character")
		}
	}
	p.appendCode(value, isBytes)
	return 2 + digits, nil
}

// appendCode adds a code point, or a byte to bytes.
func (p *literalParser) appendCode(code rune, isBytes bool) {
	if isBytes {
		p.buf = append(p.buf, byte(code))
		return
	}
	p.buf = appendWTF8(p.buf, code)
}

// appendWTF8 is UTF-8, with lone surrogates, which Python's strings may hold,
// as their three bytes.
func appendWTF8(b []byte, code rune) []byte {
	if 0xd800 <= code && code <= 0xdfff {
		return append(b, 0xe0|byte(code>>12), 0x80|byte(code>>6)&0x3f, 0x80|byte(code)&0x3f)
	}
	return utf8.AppendRune(b, code)
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case isHex(c):
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
