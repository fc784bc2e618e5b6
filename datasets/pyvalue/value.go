// Package pyvalue reads and writes Python values as text exactly as CPython
// does: [ParseLiteral] is ast.literal_eval, [ParseJSON] is json.loads,
// [AppendJSON] is json.dumps. The kinds of values survive (1 is not 1.0 is not
// "1"), integers of any size stay exact, and so do CPython's own limits, among
// them 200 open brackets and 4,300 digits of a decimal integer.
//
// Two kinds of failure are told apart, because a caller of the Python functions
// meets them apart: text that is refused ([*SyntaxError], which Python code
// usually catches) and text on which CPython raises something else ([*Raised]).
package pyvalue

import "fmt"

// Kind is a Python type.
type Kind uint8

// The kinds of a value.
const (
	None Kind = iota
	Bool
	Int
	Float
	Complex
	Str
	Bytes
	List
	Tuple
	Set
	Dict
	Ellipsis
)

// String is the type's name in Python.
func (k Kind) String() string {
	return [...]string{
		"NoneType", "bool", "int", "float", "complex", "str", "bytes",
		"list", "tuple", "set", "dict", "ellipsis",
	}[k]
}

// Value is one Python value. Which fields count depends on Kind. Text may share
// memory with the parsed source.
type Value struct {
	Kind Kind
	// Text is a Str's content in UTF-8, with lone surrogates as their three
	// bytes; a Bytes' content; an Int's decimal digits with a minus if below
	// zero, or 0x and lower-case digits where CPython would not print decimals.
	Text string
	// Real is a Float; a Complex' real part; a Bool as 0 or 1.
	Real float64
	// Imag is a Complex' imaginary part.
	Imag float64
	// Items are the elements of a List, Tuple or Set; a Dict's keys and values
	// by turns, in insertion order, without duplicate keys.
	Items []Value
}

// Get returns the value of a string key of a Dict.
func (v Value) Get(key string) (Value, bool) {
	if v.Kind != Dict {
		return Value{}, false
	}
	for i := 0; i < len(v.Items); i += 2 {
		if v.Items[i].IsStr(key) {
			return v.Items[i+1], true
		}
	}
	return Value{}, false
}

// IsStr reports whether v is the string s.
func (v Value) IsStr(s string) bool { return v.Kind == Str && v.Text == s }

// SyntaxError is text that literal_eval or json.loads refuses.
type SyntaxError struct {
	Offset int // bytes into the text
	What   string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("at byte %d: %s", e.Offset, e.What) }

// Raised is an exception that CPython raises for text which is no syntax error.
type Raised struct {
	Exception string // TypeError, ValueError, RecursionError, OverflowError
	What      string
}

func (e *Raised) Error() string { return e.Exception + ": " + e.What }

// maxDigits is CPython's limit on converting between integers and decimal text.
const maxDigits = 4300
