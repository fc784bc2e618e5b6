package preset

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Bounds of a recipe's nesting. The parser takes time by the square of it.
const (
	mostBrackets = 16
	mostIndent   = 64
)

// parse reads one YAML document.
func parse(text []byte) (ast.Node, error) {
	if err := shallow(text); err != nil {
		return nil, err
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	if len(file.Docs) > 1 {
		return nil, fmt.Errorf("it holds %d YAML documents, want one", len(file.Docs))
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, errors.New("it holds no keys")
	}
	return file.Docs[0].Body, nil
}

// shallow refuses text that is nested deeper than any recipe, by its brackets or
// by what its lines begin with.
func shallow(text []byte) error {
	depth, number := 0, 0
	for line := range bytes.Lines(text) {
		number++
		if len(line)-len(bytes.TrimLeft(line, " -?\t")) > mostIndent {
			return fmt.Errorf("line %d: nested too deeply", number)
		}
		for _, c := range line {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			}
			if depth > mostBrackets {
				return fmt.Errorf("line %d: nested too deeply", number)
			}
		}
	}
	return nil
}

// syntaxError is the library's error as one line.
func syntaxError(err error) error {
	var syntax yaml.Error
	if errors.As(err, &syntax) && syntax.GetToken() != nil {
		return fmt.Errorf("line %d: %s", syntax.GetToken().Position.Line, syntax.GetMessage())
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(first)
}

// lineError is what is wrong with a line of a recipe file.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

func (e *lineError) Unwrap() error { return e.err }

// at is an error about a node.
func at(n ast.Node, err error) error { return &lineError{n.GetToken().Position.Line, err} }

// decodeSection sets the fields of section v that mapping n names; prefix is the
// dotted path of the section.
func decodeSection(n ast.Node, v reflect.Value, prefix string) error {
	mapping, ok := n.(*ast.MappingNode)
	if !ok {
		return at(n, fmt.Errorf("want keys of %s, %s", place(prefix), strings.Join(keysOf(v.Type()), ", ")))
	}
	seen := map[string]bool{}
	for _, entry := range mapping.Values {
		name := entry.Key.GetToken().Value
		if seen[name] {
			return at(entry.Key, fmt.Errorf("%s%s is set twice", prefix, name))
		}
		seen[name] = true
		field, err := fieldNamed(v.Type(), prefix, name)
		if err != nil {
			return at(entry.Key, err)
		}
		if err := decodeField(entry.Value, v.FieldByIndex(field.Index), field, prefix+name); err != nil {
			return err
		}
	}
	return nil
}

// fieldNamed finds a key of a section, or says which one may be meant.
func fieldNamed(t reflect.Type, prefix, name string) (reflect.StructField, error) {
	for f := range fieldsOf(t) {
		if keyOf(f) == name {
			return f, nil
		}
	}
	return reflect.StructField{}, unknownKey(t, prefix, name)
}

func unknownKey(t reflect.Type, prefix, name string) error {
	keys := keysOf(t)
	if near := nearest(name, keys); near != "" {
		return fmt.Errorf("no key %s%s: did you mean %s%s?", prefix, name, prefix, near)
	}
	return fmt.Errorf("no key %s%s: %s has %s", prefix, name, place(prefix), strings.Join(keys, ", "))
}

// place is the section of a dotted prefix, as a message names it.
func place(prefix string) string {
	if prefix == "" {
		return "a recipe"
	}
	return strings.TrimSuffix(prefix, ".")
}

func decodeField(n ast.Node, v reflect.Value, f reflect.StructField, key string) error {
	v, err := opened(v)
	if err != nil {
		return err
	}
	switch v.Kind() {
	case reflect.Struct:
		return decodeSection(n, v, key+".")
	case reflect.Slice:
		return decodeList(n, v, f, key)
	default:
		return decodeScalar(n, v, f, key)
	}
}

func decodeList(n ast.Node, v reflect.Value, f reflect.StructField, key string) error {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return wrongValue(n, f, key)
	}
	out := reflect.MakeSlice(v.Type(), len(list.Values), len(list.Values))
	for i, element := range list.Values {
		if err := decodeScalar(element, out.Index(i), f, key); err != nil {
			return err
		}
	}
	if want := f.Tag.Get("len"); want != "" && want != strconv.Itoa(out.Len()) {
		return wrongValue(n, f, key)
	}
	v.Set(out)
	return nil
}

func decodeScalar(n ast.Node, v reflect.Value, f reflect.StructField, key string) error {
	if v.Kind() != reflect.String && octal(n) {
		return at(n, fmt.Errorf("%s is %s: write it without leading zeros", key, n.GetToken().Value))
	}
	fits := false
	switch v.Kind() {
	case reflect.String:
		fits = setText(n, v, f)
	case reflect.Bool:
		if b, ok := n.(*ast.BoolNode); ok {
			v.SetBool(b.Value)
			fits = true
		}
	case reflect.Float64:
		if x, ok := number(n); ok && withinBounds(f, x) {
			v.SetFloat(x)
			fits = true
		}
	default:
		fits = setWhole(n, v, f)
	}
	if !fits {
		return wrongValue(n, f, key)
	}
	return nil
}

// octal tells a number with leading zeros, which YAML 1.1 takes for an octal one,
// as the scanner does, and YAML 1.2 for a decimal.
func octal(n ast.Node) bool {
	node, ok := n.(*ast.IntegerNode)
	if !ok {
		return false
	}
	digits := strings.TrimLeft(node.GetToken().Value, "+-")
	return len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' || strings.HasPrefix(digits, "0_")
}

// setText takes any scalar as the text it is written as, so that a folder named
// 2024 needs no quotes.
func setText(n ast.Node, v reflect.Value, f reflect.StructField) bool {
	var text string
	switch node := n.(type) {
	case *ast.StringNode:
		text = node.Value
	case *ast.LiteralNode:
		text = node.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		text = node.GetToken().Value
	case *ast.NullNode:
	default:
		return false
	}
	if choices := f.Tag.Get("enum"); choices != "" && !slices.Contains(strings.Split(choices, "|"), text) {
		return false
	}
	v.SetString(text)
	return true
}

func setWhole(n ast.Node, v reflect.Value, f reflect.StructField) bool {
	node, ok := n.(*ast.IntegerNode)
	if !ok {
		return false
	}
	x, _ := number(n)
	if !withinBounds(f, x) {
		return false
	}
	switch value := node.Value.(type) {
	case uint64:
		if v.CanUint() {
			v.SetUint(value)
			return true
		}
		if value <= math.MaxInt64 {
			v.SetInt(int64(value))
			return true
		}
	case int64:
		if v.CanInt() {
			v.SetInt(value)
			return true
		}
	}
	return false
}

// number is a finite number's value. The scanner takes 1e-5 for text, which
// YAML 1.2 does not.
func number(n ast.Node) (float64, bool) {
	switch node := n.(type) {
	case *ast.IntegerNode:
		switch value := node.Value.(type) {
		case uint64:
			return float64(value), true
		case int64:
			return float64(value), true
		}
	case *ast.FloatNode:
		return node.Value, !math.IsInf(node.Value, 0)
	case *ast.StringNode:
		x, err := strconv.ParseFloat(node.Value, 64)
		return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) && node.Token.Indicator == 0
	}
	return 0, false
}

// wrongValue says what is there, and what the key takes.
func wrongValue(n ast.Node, f reflect.StructField, key string) error {
	return at(n, wrongText(strings.TrimSpace(n.String()), f, key))
}

func wrongText(text string, f reflect.StructField, key string) error {
	if text == "" {
		text = "empty"
	}
	return fmt.Errorf("%s is %s: want %s", key, oneLine(text), wanted(f))
}

// oneLine is the beginning of a value, for a message.
func oneLine(text string) string {
	const most = 60
	first, _, cut := strings.Cut(text, "\n")
	if len(first) > most {
		first, cut = first[:most], true
	}
	if cut {
		first += "…"
	}
	return first
}

// wanted says what a key takes.
func wanted(f reflect.StructField) string {
	want := typeName(f.Type)
	if a := allowed(f); a != "" {
		if f.Tag.Get("enum") != "" && f.Type.Kind() == reflect.String {
			want = "one of " + a
		} else {
			want += ", " + a
		}
	}
	return want
}
