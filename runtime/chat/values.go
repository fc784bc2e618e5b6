package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ardanlabs/jinja"
)

// maxJSONDepth bounds nesting in tools and arguments.
const maxJSONDepth = 256

// valueReader turns JSON text into template values: keys in source order,
// strings guarded, numbers as Python holds them.
type valueReader struct {
	dec      *json.Decoder
	controls *controlSet
	guard    rune
}

// jsonValue reads exactly one JSON value.
func jsonValue(text []byte, controls *controlSet, guard rune) (jinja.Value, error) {
	r := valueReader{dec: json.NewDecoder(bytes.NewReader(text)), controls: controls, guard: guard}
	r.dec.UseNumber()
	v, err := r.value(0)
	if err != nil {
		return jinja.Undefined(), err
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return jinja.Undefined(), fmt.Errorf("text after the JSON value at byte %d", r.dec.InputOffset())
	}
	return v, nil
}

func (r *valueReader) value(depth int) (jinja.Value, error) {
	if depth > maxJSONDepth {
		return jinja.Undefined(), fmt.Errorf("JSON nested deeper than %d", maxJSONDepth)
	}
	token, err := r.dec.Token()
	if err != nil {
		return jinja.Undefined(), err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return r.object(depth)
		}
		return r.array(depth)
	case string:
		return jinja.NewString(r.text(t)), nil
	case json.Number:
		return number(t, r.guard), nil
	case bool:
		return jinja.NewBool(t), nil
	}
	return jinja.None(), nil
}

func (r *valueReader) text(s string) string { return r.controls.guarded(s, r.guard) }

func (r *valueReader) object(depth int) (jinja.Value, error) {
	v := jinja.NewDict()
	for r.dec.More() {
		key, err := r.dec.Token()
		if err != nil {
			return jinja.Undefined(), err
		}
		name, ok := key.(string)
		if !ok {
			return jinja.Undefined(), fmt.Errorf("JSON object key at byte %d is no string", r.dec.InputOffset())
		}
		member, err := r.value(depth + 1)
		if err != nil {
			return jinja.Undefined(), err
		}
		v.AsDict().Set(r.text(name), member)
	}
	_, err := r.dec.Token()
	return v, err
}

func (r *valueReader) array(depth int) (jinja.Value, error) {
	var items []jinja.Value
	for r.dec.More() {
		item, err := r.value(depth + 1)
		if err != nil {
			return jinja.Undefined(), err
		}
		items = append(items, item)
	}
	_, err := r.dec.Token()
	return jinja.NewList(items), err
}

// number is an int or a float as Python tells them apart. The engine holds no
// integers beyond 64 bits: those travel as literals.
func number(n json.Number, guard rune) jinja.Value {
	text := n.String()
	if strings.ContainsAny(text, ".eE") {
		// Beyond the range of floats, Python reads an infinity, as here.
		f, _ := strconv.ParseFloat(text, 64)
		return jinja.NewFloat(f)
	}
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return jinja.NewString(string(guard) + string(guard) + text)
	}
	return jinja.NewInt(i)
}

// literal recognises a number that travels as text behind two guards, a prefix
// that no guarded string begins with. Printed, it loses the guards; in JSON,
// the quotes.
func literal(s string, guard rune) (string, bool) {
	return strings.CutPrefix(s, string(guard)+string(guard))
}
