package pyvalue

// open consumes a bracket and the space after it.
func (p *literalParser) open() error {
	if p.depth++; p.depth > maxBrackets {
		return p.fail("more than 200 brackets open")
	}
	p.at++
	return p.skipSpace()
}

func (p *literalParser) shut() {
	p.at++
	p.depth--
}

// closes reports whether the closing bracket is next.
func (p *literalParser) closes(c byte) bool { return p.at < len(p.text) && p.text[p.at] == c }

// elements reads values up to the closing bracket, which it consumes. comma
// says whether there was one after any value.
func (p *literalParser) elements(closing byte, items []Value) (_ []Value, comma bool, err error) {
	for !p.closes(closing) {
		v, _, err := p.expression()
		if err != nil {
			return nil, comma, err
		}
		items = append(items, v)
		if !p.next(',') {
			break
		}
		comma = true
		if err := p.skipSpace(); err != nil {
			return nil, comma, err
		}
	}
	if !p.closes(closing) {
		return nil, comma, p.fail("want a comma or a closing bracket")
	}
	p.shut()
	return items, comma, nil
}

func (p *literalParser) list() (Value, error) {
	if err := p.open(); err != nil {
		return Value{}, err
	}
	items, _, err := p.elements(']', nil)
	return Value{Kind: List, Items: items}, err
}

// parentheses reads a tuple, or a value in parentheses, which keeps its form.
func (p *literalParser) parentheses() (Value, operand, error) {
	if err := p.open(); err != nil || p.closes(')') {
		p.shut()
		return Value{Kind: Tuple}, bare, err
	}
	v, form, err := p.expression()
	if err != nil {
		return v, bare, err
	}
	if p.closes(')') {
		p.shut()
		return v, form, nil
	}
	if !p.next(',') {
		return v, bare, p.fail("want a comma or a closing bracket")
	}
	if err := p.skipSpace(); err != nil {
		return v, bare, err
	}
	items, _, err := p.elements(')', []Value{v})
	return Value{Kind: Tuple, Items: items}, bare, err
}

// braces reads a dict or a set.
func (p *literalParser) braces() (Value, error) {
	if err := p.open(); err != nil || p.closes('}') {
		p.shut()
		return Value{Kind: Dict}, err
	}
	first, _, err := p.expression()
	if err != nil {
		return first, err
	}
	if p.next(':') {
		return p.dict(first)
	}
	items := []Value{first}
	if p.next(',') {
		if err := p.skipSpace(); err != nil {
			return first, err
		}
		if items, _, err = p.elements('}', items); err != nil {
			return first, err
		}
	} else if !p.closes('}') {
		return first, p.fail("want a comma or a closing bracket")
	} else {
		p.shut()
	}
	for _, item := range items {
		if err := hashable(item); err != nil {
			p.raise(err)
		}
	}
	return Value{Kind: Set, Items: items}, nil
}

// dict reads on after the first key and its colon.
func (p *literalParser) dict(key Value) (Value, error) {
	var d dictBuilder
	for {
		v, _, err := p.expression()
		if err != nil {
			return v, err
		}
		if err := hashable(key); err != nil {
			p.raise(err)
		} else {
			d.put(key, v)
		}
		comma := p.next(',')
		if err := p.skipSpace(); err != nil {
			return v, err
		}
		if p.closes('}') {
			p.shut()
			return d.value(), nil
		}
		if !comma {
			return v, p.fail("want a comma or a closing bracket")
		}
		if key, _, err = p.expression(); err != nil {
			return v, err
		}
		if !p.next(':') {
			return v, p.fail("want a colon after a key")
		}
	}
}
