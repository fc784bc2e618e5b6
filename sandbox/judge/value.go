package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxDepth bounds how deep a value may nest; LiveCodeBench's nest two or three.
const maxDepth = 10_000

type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindList
	kindObject
)

// value is a JSON value. Numbers keep their literal, since 2^53+1 is not 2^53
// and 1 is not 1.0 to every rule.
type value struct {
	kind   kind
	truth  bool
	text   string // a number's literal, a string's characters
	list   []value
	object map[string]value
}

// parseValue reads one JSON value in Python's dialect: NaN, Infinity and
// -Infinity are numbers, as json.dumps writes them.
func parseValue(text string) (value, error) {
	p := valueParser{text: text}
	v, err := p.value(0)
	if err == nil && p.skipSpace() != 0 {
		err = errors.New("more text after the value")
	}
	if err != nil {
		return value{}, fmt.Errorf("not a JSON value: offset %d: %w", p.pos, err)
	}
	return v, nil
}

type valueParser struct {
	text string
	pos  int
}

// skipSpace returns the next byte that is no white space, 0 at the end.
func (p *valueParser) skipSpace() byte {
	for ; p.pos < len(p.text); p.pos++ {
		if strings.IndexByte(" \t\r\n", p.text[p.pos]) < 0 {
			return p.text[p.pos]
		}
	}
	return 0
}

func (p *valueParser) value(depth int) (value, error) {
	if depth > maxDepth {
		return value{}, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	switch p.skipSpace() {
	case '[':
		return p.list(depth)
	case '{':
		return p.dict(depth)
	case '"':
		text, err := p.quoted()
		return value{kind: kindString, text: text}, err
	default:
		return p.word()
	}
}

func (p *valueParser) list(depth int) (value, error) {
	v := value{kind: kindList}
	err := p.items(']', func() error {
		item, err := p.value(depth + 1)
		v.list = append(v.list, item)
		return err
	})
	return v, err
}

func (p *valueParser) dict(depth int) (value, error) {
	v := value{kind: kindObject, object: map[string]value{}}
	err := p.items('}', func() error {
		if p.skipSpace() != '"' {
			return errors.New("a key must be a string")
		}
		key, err := p.quoted()
		if err != nil {
			return err
		}
		if p.skipSpace() != ':' {
			return errors.New("expected ':'")
		}
		p.pos++
		v.object[key], err = p.value(depth + 1)
		return err
	})
	return v, err
}

// items reads an opening bracket, items between commas, and the closing one.
func (p *valueParser) items(closing byte, item func() error) error {
	p.pos++
	if p.skipSpace() == closing {
		p.pos++
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		switch p.skipSpace() {
		case ',':
			p.pos++
		case closing:
			p.pos++
			return nil
		default:
			return fmt.Errorf("expected ',' or '%c'", closing)
		}
	}
}

func (p *valueParser) quoted() (string, error) {
	for end := p.pos + 1; end < len(p.text); end++ {
		switch p.text[end] {
		case '\\':
			end++
		case '"':
			var s string
			if err := json.Unmarshal([]byte(p.text[p.pos:end+1]), &s); err != nil {
				return "", fmt.Errorf("bad string: %w", err)
			}
			p.pos = end + 1
			return s, nil
		}
	}
	return "", errors.New("unterminated string")
}

// word reads a number or one of the named values.
func (p *valueParser) word() (value, error) {
	end := p.pos
	for end < len(p.text) && strings.IndexByte(" \t\r\n,]}:", p.text[end]) < 0 {
		end++
	}
	word := p.text[p.pos:end]
	v := value{kind: kindNumber, text: word}
	switch word {
	case "":
		return value{}, errors.New("a value is missing")
	case "null":
		v = value{kind: kindNull}
	case "true", "false":
		v = value{kind: kindBool, truth: word == "true"}
	case "NaN", "Infinity", "-Infinity":
	default:
		if !json.Valid([]byte(word)) || word[0] == '"' {
			return value{}, fmt.Errorf("%s is no value", quote(word))
		}
	}
	p.pos = end
	return v, nil
}
