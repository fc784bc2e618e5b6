package preset

import (
	"reflect"
	"strconv"
	"strings"
)

// Field is one key of a recipe, as the struct's tags describe it.
type Field struct {
	Key     string // dotted, as --set takes it
	Type    string // text, true or false, whole number, number, list of …
	Default string // as YAML; empty: none
	Allowed string // what values may be, in words; empty: any of the type
	Doc     string
}

// Fields lists every key of a recipe's struct, in the order of its YAML.
func Fields(recipe any) []Field {
	var all []Field
	listFields(reflect.TypeOf(recipe), "", &all)
	return all
}

func listFields(t reflect.Type, prefix string, all *[]Field) {
	for f := range fieldsOf(t) {
		key := prefix + keyOf(f)
		inner := structOf(f.Type)
		if inner.Kind() == reflect.Struct {
			listFields(inner, key+".", all)
			continue
		}
		*all = append(*all, Field{
			Key: key, Type: typeName(inner), Default: f.Tag.Get("default"),
			Allowed: allowed(f), Doc: f.Tag.Get("doc"),
		})
	}
}

// fieldsOf yields the fields of a section.
func fieldsOf(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

// keyOf is a field's name in YAML.
func keyOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

// keysOf lists the names of a section.
func keysOf(t reflect.Type) []string {
	var keys []string
	for f := range fieldsOf(t) {
		keys = append(keys, keyOf(f))
	}
	return keys
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "list of " + plural(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "number"
	case reflect.String:
		return "text"
	default:
		return "whole number"
	}
}

func plural(t reflect.Type) string {
	if t.Kind() == reflect.String {
		return "texts"
	}
	return typeName(t) + "s"
}

// allowed says in words what a field's tags allow.
func allowed(f reflect.StructField) string {
	if choices := f.Tag.Get("enum"); choices != "" {
		return strings.ReplaceAll(choices, "|", ", ")
	}
	var parts []string
	for _, bound := range bounds {
		if limit := f.Tag.Get(bound.tag); limit != "" {
			parts = append(parts, bound.words+" "+limit)
		}
	}
	if n := f.Tag.Get("len"); n != "" {
		parts = append(parts, n+" of them")
	}
	return strings.Join(parts, ", ")
}

// bounds are the tags that limit numbers.
var bounds = [...]struct {
	tag, words string
	holds      func(value, limit float64) bool
}{
	{"min", "at least", func(v, l float64) bool { return v >= l }},
	{"above", "above", func(v, l float64) bool { return v > l }},
	{"below", "below", func(v, l float64) bool { return v < l }},
	{"max", "at most", func(v, l float64) bool { return v <= l }},
}

// withinBounds tells whether a number is what the field's tags allow.
func withinBounds(f reflect.StructField, v float64) bool {
	for _, bound := range bounds {
		text := f.Tag.Get(bound.tag)
		if text == "" {
			continue
		}
		if limit, err := strconv.ParseFloat(text, 64); err != nil || !bound.holds(v, limit) {
			return false
		}
	}
	return true
}
