package pyvalue

import (
	"strings"
	"unicode/utf8"
)

// maxBrackets is how many brackets CPython's tokenizer lets be open at once.
const maxBrackets = 200

// Literals parses Python literals. It may be used again and again, but not by
// two goroutines at once: it keeps what looking up character names takes.
type Literals struct {
	names characterNames
	buf   []byte // decoded strings of the last text
}

// Parse is ast.literal_eval(text). The value is valid until the next call. The
// error is a [*SyntaxError] where Python raises SyntaxError or ValueError, and
// [*Raised] for everything else.
func (l *Literals) Parse(text string) (Value, error) {
	switch {
	case strings.IndexByte(text, 0) >= 0:
		return Value{}, &SyntaxError{strings.IndexByte(text, 0), "null byte"}
	case !utf8.ValidString(text):
		return Value{}, &SyntaxError{0, "not UTF-8"}
	}
	text = strings.TrimLeft(text, " \t")
	if strings.IndexByte(text, '\r') >= 0 {
		// CPython reads every line end as \n, inside strings too.
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	p := literalParser{text: text, names: &l.names, buf: l.buf[:0]}
	v, err := p.parse()
	l.buf = p.buf
	return v, err
}

// ParseLiteral is [Literals.Parse] for a single text.
func ParseLiteral(text string) (Value, error) { return new(Literals).Parse(text) }

// literalParser is a recursive descent over the literals of Python's grammar.
// What is Python but no literal, such as a call, is refused like what is not
// Python at all: literal_eval's callers cannot tell these apart either.
type literalParser struct {
	text  string
	at    int
	depth int // open brackets
	names *characterNames
	buf   []byte // decoded strings, one after another
	// raised is the first exception that is no syntax error: Python meets those
	// only once the whole text has parsed.
	raised error
}

// operand is what of an expression's form literal_eval looks at: only a bare
// number may be signed, only a possibly signed one added to.
type operand uint8

const (
	bare operand = iota
	signed
	sum
)

// raise notes an exception, and keeps an earlier one.
func (p *literalParser) raise(err error) {
	if p.raised == nil {
		p.raised = err
	}
}

func (p *literalParser) fail(what string) error { return &SyntaxError{p.at, what} }

func (p *literalParser) parse() (Value, error) {
	if err := p.skipIndent(); err != nil {
		return Value{}, err
	}
	v, err := p.expressions()
	if err != nil {
		return v, err
	}
	if err := p.skipBlankLines(); err != nil {
		return v, err
	}
	if p.raised != nil {
		return v, p.raised
	}
	return v, nil
}

// expressions is the top level, where a tuple needs no parentheses.
func (p *literalParser) expressions() (Value, error) {
	v, _, err := p.expression()
	if err != nil || !p.next(',') {
		return v, err
	}
	tuple := Value{Kind: Tuple, Items: []Value{v}}
	for {
		if err := p.skipSpace(); err != nil {
			return tuple, err
		}
		if p.at == len(p.text) || p.text[p.at] == '\n' {
			return tuple, nil
		}
		if v, _, err = p.expression(); err != nil {
			return tuple, err
		}
		tuple.Items = append(tuple.Items, v)
		if !p.next(',') {
			return tuple, nil
		}
	}
}

// next consumes c.
func (p *literalParser) next(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// expression reads a literal and the space after it.
func (p *literalParser) expression() (Value, operand, error) {
	left, form, err := p.signedAtom()
	if err != nil || p.at == len(p.text) || (p.text[p.at] != '+' && p.text[p.at] != '-') {
		return left, form, err
	}
	minus := p.text[p.at] == '-'
	p.at++
	right, rightForm, err := p.signedAtom()
	if err != nil {
		return left, sum, err
	}
	if form == sum || rightForm != bare || right.Kind != Complex {
		return left, sum, p.fail("an expression, not a literal")
	}
	if left.Kind != Int && left.Kind != Float {
		return left, sum, p.fail("an expression, not a literal")
	}
	return p.addComplex(left, right, minus), sum, nil
}

func (p *literalParser) signedAtom() (Value, operand, error) {
	if err := p.skipSpace(); err != nil {
		return Value{}, bare, err
	}
	if p.at == len(p.text) {
		return Value{}, bare, p.fail("the text ends where a value is wanted")
	}
	sign := p.text[p.at]
	if sign != '+' && sign != '-' {
		return p.atom()
	}
	p.at++
	if err := p.skipSpace(); err != nil {
		return Value{}, signed, err
	}
	v, form, err := p.atom()
	if err != nil {
		return v, signed, err
	}
	if form != bare || (v.Kind != Int && v.Kind != Float && v.Kind != Complex) {
		return v, signed, p.fail("a sign before something other than a number")
	}
	if sign == '-' {
		v = negate(v)
	}
	return v, signed, nil
}

// atom reads a literal without sign, and the space after it.
func (p *literalParser) atom() (v Value, form operand, err error) {
	if p.at == len(p.text) {
		return v, bare, p.fail("the text ends where a value is wanted")
	}
	switch c := p.text[p.at]; {
	case c == '"' || c == '\'':
		v, err = p.strings()
		return v, bare, err // strings looked beyond the space already
	case c == '[':
		v, err = p.list()
	case c == '{':
		v, err = p.braces()
	case c == '(':
		v, form, err = p.parentheses()
	case isDigit(c) || (c == '.' && p.at+1 < len(p.text) && isDigit(p.text[p.at+1])):
		v, err = p.number()
	case strings.HasPrefix(p.text[p.at:], "..."):
		p.at += len("...")
		v.Kind = Ellipsis
	case isLetter(c):
		return p.word()
	default:
		err = p.fail("no literal begins like this")
	}
	if err == nil {
		err = p.skipSpace()
	}
	return v, form, err
}

// word reads True, False, None, set(), or a string with a prefix.
func (p *literalParser) word() (v Value, form operand, err error) {
	end := p.at
	for end < len(p.text) && (isLetter(p.text[end]) || isDigit(p.text[end]) || p.text[end] >= utf8.RuneSelf) {
		end++
	}
	if end < len(p.text) && (p.text[end] == '"' || p.text[end] == '\'') {
		v, err = p.strings()
		return v, bare, err
	}
	word := p.text[p.at:end]
	switch word {
	case "None":
	case "True":
		v = Value{Kind: Bool, Real: 1}
	case "False":
		v = Value{Kind: Bool}
	case "set":
		p.at = end
		return p.emptySet()
	default:
		return v, bare, p.fail("a name, not a literal")
	}
	p.at = end
	return v, bare, p.skipSpace()
}

func (p *literalParser) emptySet() (Value, operand, error) {
	set := Value{Kind: Set}
	if err := p.skipSpace(); err != nil {
		return set, bare, err
	}
	if !p.closes('(') {
		return set, bare, p.fail("a name, not a literal")
	}
	if err := p.open(); err != nil {
		return set, bare, err
	}
	if !p.closes(')') {
		return set, bare, p.fail("a call, not a literal")
	}
	p.shut()
	return set, bare, p.skipSpace()
}
