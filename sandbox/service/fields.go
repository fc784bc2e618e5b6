package service

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxTimeout is the longest limit a client may ask for.
const maxTimeout = time.Hour

// maxItems bounds the members of an object and the items of a list, except where
// they are a program's data: taken apart, each costs many times its bytes.
const maxItems = 10_000

// fields reads the members of one object of a request and notes its faults.
type fields struct {
	faults   *problems
	loc      []any
	whole    raw
	values   map[string]raw
	nullable bool // null counts as absent, as in models whose fields are Optional
}

// openObject reads an object; anything else is a fault.
func openObject(faults *problems, loc []any, v raw, kind, msg string) (fields, bool) {
	f := fields{faults: faults, loc: loc, whole: v, values: map[string]raw{}}
	if v.kind() != isObject {
		faults.add(kind, loc, v, "%s", msg)
		return f, false
	}
	for key, value := range v.members() {
		f.values[key] = value // the last of several wins, as in Python
		if len(f.values) > maxItems {
			faults.value(loc, v, "more than %d members", maxItems)
			return f, false
		}
	}
	return f, true
}

// openModel reads an object that FastAPI would make a model of.
func openModel(faults *problems, loc []any, v raw) (fields, bool) {
	return openObject(faults, loc, v, "model_attributes_type",
		"Input should be a valid dictionary or object to extract fields from")
}

// openDict reads an object of free keys.
func openDict(faults *problems, loc []any, v raw) (fields, bool) {
	return openObject(faults, loc, v, "dict_type", "Input should be a valid dictionary")
}

// at is the place of a member.
func (f fields) at(key any) []any { return append(slices.Clone(f.loc), key) }

func (f fields) get(key string) (raw, bool) {
	v, ok := f.values[key]
	if ok && f.nullable && v.kind() == isNull {
		return "", false
	}
	return v, ok
}

// required is get, with a fault when there is nothing.
func (f fields) required(key string) (raw, bool) {
	v, ok := f.get(key)
	if !ok {
		f.faults.add("missing", f.at(key), f.whole, "Field required")
	}
	return v, ok
}

// text reads a string, "" when there is none.
func (f fields) text(key string) string {
	v, ok := f.get(key)
	if !ok {
		return ""
	}
	s, _ := textOf(f.faults, f.at(key), v)
	return s
}

// requiredText reads a string that must be there.
func (f fields) requiredText(key string) string {
	if _, ok := f.required(key); !ok {
		return ""
	}
	return f.text(key)
}

func textOf(faults *problems, loc []any, v raw) (string, bool) {
	if v.kind() != isString {
		faults.add("string_type", loc, v, "Input should be a valid string")
		return "", false
	}
	return v.text(), true
}

// flag reads a truth value, false when there is none.
func (f fields) flag(key string) bool {
	v, ok := f.get(key)
	if !ok {
		return false
	}
	switch v.kind() {
	case isTrue, isFalse:
		return v.kind() == isTrue
	case isNumber:
		if v == "0" || v == "1" {
			return v == "1"
		}
	case isString:
		switch strings.ToLower(v.text()) {
		case "true", "1", "yes", "on":
			return true
		case "false", "0", "no", "off":
			return false
		}
	}
	f.faults.add("bool_parsing", f.at(key), v, "Input should be a valid boolean, unable to interpret input")
	return false
}

// seconds reads a time limit, otherwise when there is none.
func (f fields) seconds(key string, otherwise time.Duration) time.Duration {
	v, ok := f.get(key)
	if !ok {
		return otherwise
	}
	n, ok := numberOf(f.faults, f.at(key), v)
	if !ok {
		return otherwise
	}
	switch limit := maxTimeout.Seconds(); {
	case math.IsNaN(n) || math.IsInf(n, 0):
		f.faults.add("finite_number", f.at(key), v, "Input should be a finite number")
	case n < 0:
		f.faults.add("greater_than_equal", f.at(key), v, "Input should be greater than or equal to 0").
			Ctx = map[string]any{"ge": 0.0}
	case n > limit:
		f.faults.add("less_than_equal", f.at(key), v, "Input should be less than or equal to %g", limit).
			Ctx = map[string]any{"le": limit}
	default:
		return time.Duration(n * float64(time.Second))
	}
	return otherwise
}

// numberOf reads a number as pydantic does: also from a string, or true.
func numberOf(faults *problems, loc []any, v raw) (float64, bool) {
	switch v.kind() {
	case isNumber:
		n, _ := strconv.ParseFloat(string(v), 64) // out of range is infinite, as in Python
		return n, true
	case isTrue:
		return 1, true
	case isFalse:
		return 0, true
	case isString:
		if n, err := strconv.ParseFloat(strings.TrimSpace(v.text()), 64); err == nil {
			return n, true
		}
		faults.add("float_parsing", loc, v, "Input should be a valid number, unable to parse string as a number")
	default:
		faults.add("float_type", loc, v, "Input should be a valid number")
	}
	return 0, false
}

// integer reads a whole number, otherwise when there is none.
func (f fields) integer(key string, otherwise int64) int64 {
	v, ok := f.get(key)
	if !ok {
		return otherwise
	}
	switch v.kind() {
	case isNumber:
		n, _ := strconv.ParseFloat(string(v), 64) // out of range is infinite
		if n != math.Trunc(n) || math.Abs(n) > 1<<53 {
			f.faults.add("int_from_float", f.at(key), v, "Input should be a valid integer, got a number with a fractional part")
			return otherwise
		}
		return int64(n)
	case isString:
		if n, err := strconv.ParseInt(strings.TrimSpace(v.text()), 10, 53); err == nil {
			return n
		}
		f.faults.add("int_parsing", f.at(key), v, "Input should be a valid integer, unable to parse string as an integer")
	default:
		f.faults.add("int_type", f.at(key), v, "Input should be a valid integer")
	}
	return otherwise
}

// memory reads an amount of memory, 0 when there is none or it is negative. It is
// small enough to be counted in bytes, whatever its unit.
func (f fields) memory(key string) int64 { return min(max(0, f.integer(key, 0)), 1<<40) }

// list reads a list's items, none when it is absent.
func (f fields) list(key string) []raw {
	v, ok := f.get(key)
	if !ok {
		return nil
	}
	if v.kind() != isList {
		f.faults.add("list_type", f.at(key), v, "Input should be a valid list")
		return nil
	}
	items := itemsOf(v)
	if len(items) > maxItems {
		f.faults.value(f.at(key), v, "more than %d items", maxItems)
		return nil
	}
	return items
}

// itemsOf takes a list apart, up to one item more than anything may have.
func itemsOf(v raw) []raw {
	var items []raw
	for item := range v.items() {
		if items = append(items, item); len(items) > maxItems {
			break
		}
	}
	return items
}

// choice reads one of the names.
func (f fields) choice(key string, names []string) string {
	v, ok := f.get(key)
	if !ok {
		return ""
	}
	if v.kind() == isString && slices.Contains(names, v.text()) {
		return v.text()
	}
	f.faults.add("literal_error", f.at(key), v, "Input should be %s", oneOf(names)).
		Ctx = map[string]any{"expected": oneOf(names)}
	return ""
}
