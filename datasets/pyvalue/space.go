package pyvalue

import "cmp"

// skipSpace passes blanks, comments and joined lines; line ends too while a
// bracket is open.
func (p *literalParser) skipSpace() error {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == ' ' || c == '\t' || c == '\f', c == '\n' && p.depth > 0:
			p.at++
		case c == '#':
			for p.at < len(p.text) && p.text[p.at] != '\n' {
				p.at++
			}
		case c == '\\':
			if err := p.joinLine(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// joinLine passes a backslash at a line's end. Python wants more text after it.
func (p *literalParser) joinLine() error {
	if p.at+2 >= len(p.text) || p.text[p.at+1] != '\n' {
		return p.fail("a backslash outside of a string")
	}
	p.at += 2
	return nil
}

// tabStop is how far CPython's tokenizer counts a tab to reach.
const tabStop = 8

// skipIndent passes blank lines before the literal, which must stand in the
// first column: Python reads anything else as an unexpected indent.
func (p *literalParser) skipIndent() error {
	for {
		column, err := p.column()
		if err != nil {
			return err
		}
		if p.at == len(p.text) {
			return p.fail("no value")
		}
		switch c := p.text[p.at]; {
		case c == '#':
			if err := p.skipSpace(); err != nil {
				return err
			}
		case c != '\n' && column > 0:
			return p.fail("unexpected indent")
		case c != '\n':
			return nil
		}
		if p.at < len(p.text) {
			p.at++
		}
	}
}

// skipBlankLines passes what may follow the literal: its line's end, and lines
// with nothing but a comment. Blanks alone at the end of the text are, to
// CPython's eval mode, an indent.
func (p *literalParser) skipBlankLines() error {
	for p.at < len(p.text) {
		if p.text[p.at] != '\n' {
			return p.fail("text after the literal")
		}
		p.at++
		column, err := p.column()
		if err != nil {
			return err
		}
		if p.at == len(p.text) && column > 0 {
			return p.fail("unexpected indent")
		}
		if p.closes('#') {
			if err := p.skipSpace(); err != nil {
				return err
			}
		}
	}
	return nil
}

// column passes a line's leading blanks and measures them as CPython does: a
// form feed starts anew, and a joined line keeps its first part's width.
func (p *literalParser) column() (int, error) {
	column, joined := 0, 0
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ':
			column++
		case '\t':
			column = (column/tabStop + 1) * tabStop
		case '\f':
			column = 0
		case '\\':
			if joined == 0 {
				joined = column
			}
			if err := p.joinLine(); err != nil {
				return 0, err
			}
			continue
		default:
			return cmp.Or(joined, column), nil
		}
		p.at++
	}
	return cmp.Or(joined, column), nil
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
