package pyvalue

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendJSON appends json.dumps(v) to b: ASCII only, ", " and ": " between
// items, NaN and Infinity allowed, tuples as lists. The error is a [*Raised]
// where Python raises: for types and keys that JSON lacks, and for integers of
// more than 4,300 digits.
func AppendJSON(b []byte, v Value) ([]byte, error) {
	switch v.Kind {
	case None:
		return append(b, "null"...), nil
	case Bool:
		return append(b, boolText(v)...), nil
	case Int:
		return appendInt(b, v)
	case Float:
		return appendFloat(b, v.Real), nil
	case Str:
		return appendString(b, v.Text), nil
	case List, Tuple:
		return appendList(b, v)
	case Dict:
		return appendDict(b, v)
	default:
		return b, &Raised{"TypeError", "Object of type " + v.Kind.String() + " is not JSON serializable"}
	}
}

func boolText(v Value) string {
	if v.Real != 0 {
		return "true"
	}
	return "false"
}

func appendInt(b []byte, v Value) ([]byte, error) {
	digits := strings.TrimPrefix(v.Text, "-")
	if strings.HasPrefix(digits, "0x") || len(digits) > maxDigits {
		return b, &Raised{"ValueError", "an integer of more than 4300 digits"}
	}
	return append(b, v.Text...), nil
}

func appendList(b []byte, v Value) (_ []byte, err error) {
	b = append(b, '[')
	for i, item := range v.Items {
		if i > 0 {
			b = append(b, ", "...)
		}
		if b, err = AppendJSON(b, item); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

func appendDict(b []byte, v Value) (_ []byte, err error) {
	b = append(b, '{')
	for i := 0; i < len(v.Items); i += 2 {
		if i > 0 {
			b = append(b, ", "...)
		}
		if b, err = appendKey(b, v.Items[i]); err != nil {
			return b, err
		}
		b = append(b, ": "...)
		if b, err = AppendJSON(b, v.Items[i+1]); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// appendKey writes a key as text; keys that become equal both stay, as in Python.
func appendKey(b []byte, key Value) (_ []byte, err error) {
	switch key.Kind {
	case Str:
		return appendString(b, key.Text), nil
	case None, Bool, Int, Float:
		b = append(b, '"')
		if b, err = AppendJSON(b, key); err != nil {
			return b, err
		}
		return append(b, '"'), nil
	}
	return b, &Raised{"TypeError", "keys must be str, int, float, bool or None, not " + key.Kind.String()}
}

// appendFloat is float.__repr__: the shortest digits that read back equal, with
// an exponent below 1e-4 and from 1e16 on.
func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	}
	if size := math.Abs(f); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	start := len(b)
	b = strconv.AppendFloat(b, f, 'f', -1, 64)
	if !strings.Contains(string(b[start:]), ".") {
		b = append(b, ".0"...)
	}
	return b
}

const hexDigits = "0123456789abcdef"

// appendString writes s in double quotes with everything but printable ASCII
// escaped.
func appendString(b []byte, s string) []byte {
	return append(appendInside(append(b, '"'), s), '"')
}

// appendInside is appendString without the quotes.
func appendInside(b []byte, s string) []byte {
	start := 0
	for i := 0; ; {
		if i = plainRun(s, i); i == len(s) {
			return append(b, s[start:]...)
		}
		c := s[i]
		if c == '\'' {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		n := 1
		if c < utf8.RuneSelf {
			b = appendControl(b, c)
		} else {
			var code rune
			code, n = decodeWTF8(s[i:])
			b = AppendEscape(b, code)
		}
		i += n
		start = i
	}
}

func appendControl(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	case '\f':
		return append(b, `\f`...)
	case '\b':
		return append(b, `\b`...)
	}
	return appendUnit(b, rune(c))
}

// AppendEscape appends a code point as \uXXXX, beyond the first plane as a
// surrogate pair.
func AppendEscape(b []byte, code rune) []byte {
	if code >= 0x10000 {
		b = appendUnit(b, 0xd800+(code-0x10000)>>10)
		return appendUnit(b, 0xdc00+(code-0x10000)&0x3ff)
	}
	return appendUnit(b, code)
}

func appendUnit(b []byte, unit rune) []byte {
	return append(b, '\\', 'u', hexDigits[unit>>12&15], hexDigits[unit>>8&15], hexDigits[unit>>4&15], hexDigits[unit&15])
}

// decodeWTF8 decodes UTF-8 with lone surrogates.
func decodeWTF8(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if n == 1 && len(s) >= 3 && s[0] == 0xed {
		return rune(s[0]&0x0f)<<12 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return r, n
}
