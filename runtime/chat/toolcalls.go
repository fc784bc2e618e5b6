package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The tags around a call.
const (
	callOpen  = "<tool_call>"
	callClose = "</tool_call>"
)

// maxCalls bounds the calls read from one turn.
const maxCalls = 64

// ParseToolCalls reads the Hermes tool calls of an assistant's answer (without
// its reasoning, see SplitThinking). content is the text outside of the
// blocks.
//
// A block begins at <tool_call>. It holds one JSON object with a name and an
// object of arguments, and ends at </tool_call>, at the next <tool_call> or
// where the text ends; tags inside JSON strings do not count. A second object
// in a block is a second call if it is a valid call by itself. Whatever else
// stands in a block is reported: each fault is an entry of its own whose Err
// is worded for the model, and after one, reading goes on from the first tag
// that follows. A call whose object is not complete is such a fault, so a
// turn cut short never runs half a call.
func ParseToolCalls(text string) (content string, calls []ParsedCall) {
	p := callParser{rest: text}
	for p.findBlock() {
		if len(p.calls) >= maxCalls {
			p.fail("", fmt.Errorf("more than %d calls in one turn: the rest was not read", maxCalls))
			break
		}
		p.block()
	}
	return strings.TrimSpace(p.content.String()), p.calls
}

type callParser struct {
	rest    string
	content strings.Builder
	calls   []ParsedCall
}

func (p *callParser) fail(name string, err error) {
	p.calls = append(p.calls, ParsedCall{Call: ToolCall{Name: name}, Err: err})
}

// findBlock moves behind the next opening tag; without one, the rest is
// content.
func (p *callParser) findBlock() bool {
	before, after, found := strings.Cut(p.rest, callOpen)
	p.content.WriteString(before)
	p.rest = after
	return found
}

// block reads the block that rest begins with, its closing tag included.
func (p *callParser) block() {
	call, size, err := readCall(p.rest)
	if err != nil {
		p.fail(call.Name, err)
		p.skipBlock()
		return
	}
	p.calls = append(p.calls, ParsedCall{Call: call})
	p.rest = strings.TrimLeft(p.rest[size:], " \t\r\n")
	for strings.HasPrefix(p.rest, "{") && len(p.calls) < maxCalls {
		call, size, err := readCall(p.rest)
		if err != nil {
			break
		}
		p.calls = append(p.calls, ParsedCall{Call: call})
		p.rest = strings.TrimLeft(p.rest[size:], " \t\r\n")
	}
	if junk := strings.TrimSpace(p.rest[:blockEnd(p.rest)]); junk != "" {
		p.fail("", fmt.Errorf("the call before this was read, but text behind it in the same %s block was not: %s", callOpen, excerpt(junk)))
	}
	p.skipBlock()
}

// skipBlock moves to the end of the block, behind its closing tag.
func (p *callParser) skipBlock() {
	p.rest = strings.TrimPrefix(p.rest[blockEnd(p.rest):], callClose)
}

// blockEnd is where the first tag of either kind begins, or the text ends.
func blockEnd(text string) int {
	end := len(text)
	for _, tag := range []string{callOpen, callClose} {
		if at := strings.Index(text[:end], tag); at >= 0 {
			end = at
		}
	}
	return end
}

// readCall reads one call from the JSON object that text begins with, and
// tells how many bytes it takes. The call has its name whenever that could be
// read, even beside an error.
func readCall(text string) (call ToolCall, size int, err error) {
	dec := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return call, 0, diagnose(text[:blockEnd(text)], err)
	}
	size = int(dec.InputOffset())
	var object struct {
		Name      *string         `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(raw, &object); err != nil || raw[0] != '{' {
		return call, size, errors.New(`a call is a JSON object with a string "name" and an object "arguments"`)
	}
	if object.Name == nil || *object.Name == "" {
		return call, size, errors.New(`the call has no "name"`)
	}
	call.Name = *object.Name
	if object.Arguments == nil {
		return call, size, errors.New(`the call has no "arguments"; write {} if the function takes none`)
	}
	arguments, _, err := argumentsObject(object.Arguments)
	if err != nil {
		return call, size, errors.New(`"arguments" is not a JSON object`)
	}
	call.Arguments = arguments
	return call, size, nil
}

// diagnose says what is wrong with the JSON of a block, in words that help a
// model to write it again.
func diagnose(block string, err error) error {
	trimmed := strings.TrimSpace(block)
	if trimmed == "" {
		return fmt.Errorf("the %s block is empty", callOpen)
	}
	depth, inString, newline := scanJSON(trimmed)
	switch {
	case newline:
		return errors.New(`invalid JSON: a line break inside a string; write it as \n`)
	case inString:
		return errors.New("invalid JSON: unterminated string")
	case depth > 0 && endsEarly(trimmed):
		return fmt.Errorf("invalid JSON: %d closing bracket(s) missing at the end", depth)
	}
	if again := json.Unmarshal([]byte(trimmed), new(any)); again != nil {
		err = again
	}
	return fmt.Errorf("invalid JSON: %w", err)
}

// endsEarly tells whether text is fine JSON that stops too soon.
func endsEarly(text string) bool {
	err := json.NewDecoder(strings.NewReader(text)).Decode(new(any))
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// scanJSON counts the brackets left open at the end of text, and tells whether
// it ends inside a string and whether a string holds a raw line break.
func scanJSON(text string) (depth int, inString, newline bool) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
			newline = newline || c == '\n' || c == '\r'
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	return depth, inString, newline
}

// excerpt shortens text for a message.
func excerpt(text string) string {
	const limit = 80
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit]) + "…"
}
