package pyvalue

import (
	"strings"
	"unicode/utf8"
)

// maxNesting is how deep json.loads goes before RecursionError, less what the
// caller's own frames take of Python's thousand.
const maxNesting = 960

// ParseJSON is json.loads(text): NaN and Infinity are accepted, the last of
// equal keys counts, control characters in strings are refused, escaped
// surrogates may stand alone. The error is a [*SyntaxError] where Python raises
// JSONDecodeError and [*Raised] for an integer or nesting beyond its limits.
func ParseJSON(text string) (Value, error) {
	p := jsonParser{text: text}
	if !utf8.ValidString(text) {
		return Value{}, p.fail("not UTF-8")
	}
	p.space()
	v, err := p.value()
	if err != nil {
		return Value{}, err
	}
	if p.space(); p.at < len(p.text) {
		return Value{}, p.fail("text after the value")
	}
	return v, nil
}

type jsonParser struct {
	text  string
	at    int
	depth int
	buf   []byte
}

func (p *jsonParser) fail(what string) error { return &SyntaxError{p.at, what} }

func (p *jsonParser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *jsonParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *jsonParser) value() (Value, error) {
	switch c := p.peek(); {
	case c == '"':
		text, err := p.string()
		return Value{Kind: Str, Text: text}, err
	case c == '[':
		return p.nested(p.array)
	case c == '{':
		return p.nested(p.object)
	case c == '-' && p.word("-Infinity"):
		return Value{Kind: Float, Real: parseFloat("-inf")}, nil
	case c == '-' || isDigit(c):
		return p.number()
	case p.word("null"):
		return Value{}, nil
	case p.word("true"):
		return Value{Kind: Bool, Real: 1}, nil
	case p.word("false"):
		return Value{Kind: Bool}, nil
	case p.word("NaN"):
		return Value{Kind: Float, Real: parseFloat("nan")}, nil
	case p.word("Infinity"):
		return Value{Kind: Float, Real: parseFloat("inf")}, nil
	default:
		return Value{}, p.fail("want a JSON value")
	}
}

func (p *jsonParser) word(word string) bool {
	if strings.HasPrefix(p.text[p.at:], word) {
		p.at += len(word)
		return true
	}
	return false
}

func (p *jsonParser) nested(read func() (Value, error)) (Value, error) {
	if p.depth++; p.depth > maxNesting {
		return Value{}, &Raised{"RecursionError", "maximum recursion depth exceeded"}
	}
	defer func() { p.depth-- }()
	p.at++
	p.space()
	return read()
}

func (p *jsonParser) array() (Value, error) {
	list := Value{Kind: List}
	for p.peek() != ']' {
		v, err := p.value()
		if err != nil {
			return list, err
		}
		list.Items = append(list.Items, v)
		more, err := p.more(']')
		if err != nil {
			return list, err
		}
		if !more {
			break
		}
	}
	p.at++
	return list, nil
}

// more passes the comma between items; false when the closing bracket is next.
func (p *jsonParser) more(closing byte) (bool, error) {
	p.space()
	switch p.peek() {
	case closing:
		return false, nil
	case ',':
		p.at++
		if p.space(); p.peek() == closing {
			return false, p.fail("a comma before the closing bracket")
		}
		return true, nil
	}
	return false, p.fail("want a comma or a closing bracket")
}

func (p *jsonParser) object() (Value, error) {
	var d dictBuilder
	for p.peek() != '}' {
		if p.peek() != '"' {
			return Value{}, p.fail("want a key in double quotes")
		}
		key, err := p.string()
		if err != nil {
			return Value{}, err
		}
		if p.space(); p.peek() != ':' {
			return Value{}, p.fail("want a colon after a key")
		}
		p.at++
		p.space()
		v, err := p.value()
		if err != nil {
			return Value{}, err
		}
		d.put(Value{Kind: Str, Text: key}, v)
		more, err := p.more('}')
		if err != nil {
			return Value{}, err
		}
		if !more {
			break
		}
	}
	p.at++
	return d.value(), nil
}

// number reads -?(0|[1-9]digits)(.digits)?(e[+-]?digits)?; a point or exponent
// without digits is left for the caller to refuse.
func (p *jsonParser) number() (Value, error) {
	start := p.at
	if p.peek() == '-' {
		p.at++
	}
	switch c := p.peek(); {
	case c == '0':
		p.at++
	case isDigit(c):
		p.digits()
	default:
		return Value{}, p.fail("a minus without digits")
	}
	isFloat := false
	if p.peek() == '.' && p.digitAt(p.at+1) {
		isFloat = true
		p.at++
		p.digits()
	}
	if p.peek()|0x20 == 'e' {
		digits := p.at + 1
		if digits < len(p.text) && (p.text[digits] == '+' || p.text[digits] == '-') {
			digits++
		}
		if p.digitAt(digits) {
			isFloat = true
			p.at = digits
			p.digits()
		}
	}
	text := p.text[start:p.at]
	if isFloat {
		return Value{Kind: Float, Real: parseFloat(text)}, nil
	}
	return jsonInt(text)
}

func jsonInt(text string) (Value, error) {
	if len(strings.TrimPrefix(text, "-")) > maxDigits {
		return Value{}, &Raised{"ValueError", "an integer of more than 4300 digits"}
	}
	if text == "-0" {
		text = "0"
	}
	return Value{Kind: Int, Text: text}, nil
}

func (p *jsonParser) digitAt(i int) bool { return i < len(p.text) && isDigit(p.text[i]) }

func (p *jsonParser) digits() {
	for p.digitAt(p.at) {
		p.at++
	}
}

// string reads a string in double quotes.
func (p *jsonParser) string() (string, error) {
	p.at++
	start := p.at
	p.buf = p.buf[:0]
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			text := p.text[start:p.at]
			if len(p.buf) > 0 {
				p.buf = append(p.buf, text...)
				text = string(p.buf)
			}
			p.at++
			return text, nil
		case c == '\\':
			p.buf = append(p.buf, p.text[start:p.at]...)
			if err := p.escape(); err != nil {
				return "", err
			}
			start = p.at
		case c < ' ':
			return "", p.fail("a control character in a string")
		default:
			p.at++
		}
	}
	return "", p.fail("a string without its closing quote")
}

func (p *jsonParser) escape() error {
	p.at++
	c := p.peek()
	switch c {
	case '"', '\\', '/':
	case 'b', 'f', 'n', 'r', 't':
		c = controlEscape(c)
	case 'u':
		return p.unicode()
	default:
		return p.fail("an unknown escape")
	}
	p.at++
	p.buf = append(p.buf, c)
	return nil
}

// unicode reads uXXXX, and the second half of a surrogate pair if it follows.
func (p *jsonParser) unicode() error {
	code, ok := p.hex4(p.at + 1)
	if !ok {
		return p.fail("an escape cut short")
	}
	p.at += 5
	if 0xd800 <= code && code <= 0xdbff && strings.HasPrefix(p.text[p.at:], `\u`) {
		if low, ok := p.hex4(p.at + 2); ok && 0xdc00 <= low && low <= 0xdfff {
			p.at += 6
			code = 0x10000 + (code-0xd800)<<10 + (low - 0xdc00)
		}
	}
	p.buf = appendWTF8(p.buf, code)
	return nil
}

func (p *jsonParser) hex4(at int) (rune, bool) {
	if at+4 > len(p.text) {
		return 0, false
	}
	code := rune(0)
	for _, c := range []byte(p.text[at : at+4]) {
		d, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		code = code<<4 | rune(d)
	}
	return code, true
}
