package service

import (
	"encoding/json"
	"iter"
	"strings"
)

// maxDepth bounds how deep a request may nest; requests nest five or six deep,
// and arguments of calls a few more.
const maxDepth = 500

// raw is one well-formed JSON value as the client wrote it. It is in Python's
// dialect, as the clients are: NaN, Infinity and -Infinity are numbers. Nothing
// is built before it is asked for, so that a body costs no more memory than its
// bytes.
type raw string

// syntaxError is a fault in a JSON text, in the words of Python's decoder.
type syntaxError struct {
	at  int // byte offset
	msg string
}

func (e *syntaxError) Error() string { return e.msg }

// parseJSON checks a whole JSON text.
func parseJSON(text string) (raw, *syntaxError) {
	start := skipSpace(text, 0)
	end, err := scanValue(text, start, 0)
	if err != nil {
		return "", err
	}
	if rest := skipSpace(text, end); rest < len(text) {
		return "", &syntaxError{rest, "Extra data"}
	}
	return raw(text[start:end]), nil
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// scanValue returns where the value that starts at i ends.
func scanValue(s string, i, depth int) (int, *syntaxError) {
	if i >= len(s) {
		return 0, &syntaxError{i, "Expecting value"}
	}
	if depth > maxDepth {
		return 0, &syntaxError{i, "nested too deep"}
	}
	switch s[i] {
	case '"':
		return scanString(s, i)
	case '[':
		return scanList(s, i, depth)
	case '{':
		return scanObject(s, i, depth)
	}
	if end := scanWord(s, i); end > i {
		return end, nil
	}
	return 0, &syntaxError{i, "Expecting value"}
}

func scanList(s string, i, depth int) (int, *syntaxError) {
	if i = skipSpace(s, i+1); i < len(s) && s[i] == ']' {
		return i + 1, nil
	}
	for {
		end, err := scanValue(s, i, depth+1)
		if err != nil {
			return 0, err
		}
		i = skipSpace(s, end)
		switch {
		case i < len(s) && s[i] == ']':
			return i + 1, nil
		case i >= len(s) || s[i] != ',':
			return 0, &syntaxError{i, "Expecting ',' delimiter"}
		}
		i = skipSpace(s, i+1)
	}
}

func scanObject(s string, i, depth int) (int, *syntaxError) {
	if i = skipSpace(s, i+1); i < len(s) && s[i] == '}' {
		return i + 1, nil
	}
	for {
		_, value, err := scanKey(s, i)
		if err != nil {
			return 0, err
		}
		end, err := scanValue(s, value, depth+1)
		if err != nil {
			return 0, err
		}
		i = skipSpace(s, end)
		switch {
		case i < len(s) && s[i] == '}':
			return i + 1, nil
		case i >= len(s) || s[i] != ',':
			return 0, &syntaxError{i, "Expecting ',' delimiter"}
		}
		i = skipSpace(s, i+1)
	}
}

// scanKey returns where the key at i ends and where its value starts.
func scanKey(s string, i int) (keyEnd, value int, err *syntaxError) {
	if i >= len(s) || s[i] != '"' {
		return 0, 0, &syntaxError{i, "Expecting property name enclosed in double quotes"}
	}
	if keyEnd, err = scanString(s, i); err != nil {
		return 0, 0, err
	}
	i = skipSpace(s, keyEnd)
	if i >= len(s) || s[i] != ':' {
		return 0, 0, &syntaxError{i, "Expecting ':' delimiter"}
	}
	return keyEnd, skipSpace(s, i+1), nil
}

func scanString(s string, start int) (int, *syntaxError) {
	for i := start + 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1, nil
		case c < ' ':
			return 0, &syntaxError{i, "Invalid control character at"}
		case c == '\\':
			i++
			if i >= len(s) {
				break
			}
			if strings.IndexByte(`"\/bfnrtu`, s[i]) < 0 {
				return 0, &syntaxError{i - 1, `Invalid \escape`}
			}
			if s[i] == 'u' && !fourHex(s[i+1:]) {
				return 0, &syntaxError{i, `Invalid \uXXXX escape`}
			}
		}
	}
	return 0, &syntaxError{start, "Unterminated string starting at"}
}

func fourHex(s string) bool {
	if len(s) < 4 {
		return false
	}
	for _, c := range []byte(s[:4]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

// scanWord returns where a named value or number ends, i when there is none.
func scanWord(s string, i int) int {
	if s[i] >= '0' && s[i] <= '9' {
		return scanNumber(s, i)
	}
	for _, word := range [...]string{"null", "true", "false", "NaN", "Infinity", "-Infinity"} {
		if strings.HasPrefix(s[i:], word) {
			return i + len(word)
		}
	}
	return scanNumber(s, i)
}

func scanNumber(s string, i int) int {
	end := i
	if s[end] == '-' {
		end++
	}
	whole := digits(s, end)
	if whole == end {
		return i
	}
	if s[end] == '0' {
		whole = end + 1
	}
	end = whole
	if end < len(s) && s[end] == '.' {
		if fraction := digits(s, end+1); fraction > end+1 {
			end = fraction
		}
	}
	return scanExponent(s, end)
}

func scanExponent(s string, i int) int {
	if i >= len(s) || s[i] != 'e' && s[i] != 'E' {
		return i
	}
	start := i + 1
	if start < len(s) && (s[start] == '+' || s[start] == '-') {
		start++
	}
	if end := digits(s, start); end > start {
		return end
	}
	return i
}

func digits(s string, i int) int {
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

// The kinds of JSON values, by the first byte; numbers of every form are '0'.
const (
	isString = '"'
	isList   = '['
	isObject = '{'
	isNull   = 'n'
	isTrue   = 't'
	isFalse  = 'f'
	isNumber = '0'
)

func (r raw) kind() byte {
	switch r[0] {
	case isString, isList, isObject, isNull, isTrue, isFalse:
		return r[0]
	}
	return isNumber
}

// text is a string's characters. A lone surrogate becomes U+FFFD.
func (r raw) text() string {
	inner := string(r[1 : len(r)-1])
	if strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var s string
	_ = json.Unmarshal([]byte(r), &s) // it was scanned, so it is a string
	return s
}

// items goes through a list.
func (r raw) items() iter.Seq[raw] {
	return func(yield func(raw) bool) {
		s := string(r)
		for i := skipSpace(s, 1); s[i] != ']'; {
			end, _ := scanValue(s, i, 0)
			if !yield(r[i:end]) {
				return
			}
			if i = skipSpace(s, end); s[i] == ',' {
				i = skipSpace(s, i+1)
			}
		}
	}
}

// members goes through an object in the order it is written.
func (r raw) members() iter.Seq2[string, raw] {
	return func(yield func(string, raw) bool) {
		s := string(r)
		for i := skipSpace(s, 1); s[i] != '}'; {
			keyEnd, value, _ := scanKey(s, i)
			end, _ := scanValue(s, value, 0)
			if !yield(r[i:keyEnd].text(), r[value:end]) {
				return
			}
			if i = skipSpace(s, end); s[i] == ',' {
				i = skipSpace(s, i+1)
			}
		}
	}
}

// strict is the value in standard JSON, for answers: non-finite numbers, which
// only Python reads, become strings.
func (r raw) strict() json.RawMessage {
	if data := []byte(r); json.Valid(data) {
		return data
	}
	var b strings.Builder
	for i := 0; i < len(r); {
		end := i + 1
		switch {
		case r[i] == '"':
			end, _ = scanString(string(r), i)
			b.WriteString(string(r[i:end]))
		case r[i] == 'N' || r[i] == 'I' || strings.HasPrefix(string(r[i:]), "-I"):
			end = scanWord(string(r), i)
			b.WriteString(`"` + string(r[i:end]) + `"`)
		default:
			b.WriteByte(r[i])
		}
		i = end
	}
	return json.RawMessage(b.String())
}

// line is the value on one line: line breaks stand only between tokens.
func (r raw) line() string {
	if !strings.ContainsAny(string(r), "\r\n") {
		return string(r)
	}
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(string(r))
}
