package chat

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
)

// pyJSON writes values as Python's json.dumps does.
type pyJSON struct {
	out      strings.Builder
	guard    rune
	ascii    bool
	sortKeys bool
	indent   string // "": one line
	pretty   bool   // indent was given, even as 0
	item     string
	key      string
}

// jsonFilterFunc is transformers' filter tojson(x, ensure_ascii=False,
// indent=None, separators=None, sort_keys=False).
func jsonFilterFunc(guard rune) func([]jinja.Value, map[string]jinja.Value) (jinja.Value, error) {
	return func(args []jinja.Value, kwargs map[string]jinja.Value) (jinja.Value, error) {
		if len(args) == 0 {
			return jinja.Undefined(), errors.New("tojson: no value")
		}
		w := pyJSON{guard: guard, item: ", ", key: ": "}
		if err := w.configure(args[1:], kwargs); err != nil {
			return jinja.Undefined(), err
		}
		if err := w.write(args[0], 0); err != nil {
			return jinja.Undefined(), err
		}
		return jinja.NewString(w.out.String()), nil
	}
}

func (w *pyJSON) configure(args []jinja.Value, kwargs map[string]jinja.Value) error {
	option := func(at int, name string) jinja.Value {
		if v, ok := kwargs[name]; ok {
			return v
		}
		if at < len(args) {
			return args[at]
		}
		return jinja.None()
	}
	w.ascii = option(0, "ensure_ascii").IsTruthy()
	w.sortKeys = option(3, "sort_keys").IsTruthy()
	switch indent := option(1, "indent"); {
	case indent.IsInt():
		w.pretty, w.indent = true, strings.Repeat(" ", int(min(max(indent.AsInt(), 0), 64)))
	case indent.IsString():
		w.pretty, w.indent = true, indent.AsString()
	}
	if w.pretty {
		w.item = ","
	}
	separators := option(2, "separators")
	if separators.IsNone() {
		return nil
	}
	if !separators.IsList() || separators.AsList().Len() != 2 ||
		!separators.AsList().Get(0).IsString() || !separators.AsList().Get(1).IsString() {
		return errors.New("tojson: separators are two strings")
	}
	w.item, w.key = separators.AsList().Get(0).AsString(), separators.AsList().Get(1).AsString()
	return nil
}

func (w *pyJSON) write(v jinja.Value, depth int) error {
	switch {
	case v.IsNone():
		w.out.WriteString("null")
	case v.IsBool():
		w.out.WriteString(strconv.FormatBool(v.AsBool()))
	case v.IsInt():
		w.out.WriteString(strconv.FormatInt(v.AsInt(), 10))
	case v.IsFloat():
		w.out.WriteString(pyFloat(v.AsFloat()))
	case v.IsString():
		if number, ok := literal(v.AsString(), w.guard); ok {
			w.out.WriteString(number)
			return nil
		}
		w.quote(v.AsString())
	case v.IsList():
		return w.writeList(v.AsList().Items, depth)
	case v.IsDict():
		return w.writeDict(v.AsDict(), depth)
	default:
		return fmt.Errorf("tojson: %s has no JSON form", v)
	}
	return nil
}

func (w *pyJSON) writeList(items []jinja.Value, depth int) error {
	return w.writeMembers('[', ']', len(items), depth, func(i int) error {
		return w.write(items[i], depth+1)
	})
}

func (w *pyJSON) writeDict(d *jinja.Dict, depth int) error {
	keys := d.OrderedKeys()
	if w.sortKeys {
		slices.Sort(keys)
	}
	return w.writeMembers('{', '}', len(keys), depth, func(i int) error {
		w.quote(keys[i])
		w.out.WriteString(w.key)
		return w.write(d.Data[keys[i]], depth+1)
	})
}

func (w *pyJSON) writeMembers(open, end byte, n, depth int, member func(int) error) error {
	w.out.WriteByte(open)
	for i := range n {
		if i > 0 {
			w.out.WriteString(w.item)
		}
		w.newline(depth + 1)
		if err := member(i); err != nil {
			return err
		}
	}
	if n > 0 {
		w.newline(depth)
	}
	w.out.WriteByte(end)
	return nil
}

func (w *pyJSON) newline(depth int) {
	if w.pretty {
		w.out.WriteByte('\n')
		w.out.WriteString(strings.Repeat(w.indent, depth))
	}
}

// quote writes a string: ", \ and control characters escaped, all else as it
// is, or beyond ASCII as \u escapes if asked for. Guards pass: they are ours.
func (w *pyJSON) quote(s string) {
	w.out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.out.WriteByte('\\')
			w.out.WriteRune(r)
		case strings.ContainsRune("\n\r\t\b\f", r):
			w.out.WriteByte('\\')
			w.out.WriteByte("nrtbf"[strings.IndexRune("\n\r\t\b\f", r)])
		case r < 0x20:
			fmt.Fprintf(&w.out, "\\u%04x", r)
		case w.ascii && r >= utf8.RuneSelf && r != w.guard:
			w.escape(r)
		default:
			w.out.WriteRune(r)
		}
	}
	w.out.WriteByte('"')
}

// escape writes a rune as one \u escape, or two for a surrogate pair.
func (w *pyJSON) escape(r rune) {
	if r < 0x10000 {
		fmt.Fprintf(&w.out, "\\u%04x", r)
		return
	}
	r -= 0x10000
	fmt.Fprintf(&w.out, "\\u%04x\\u%04x", 0xD800+(r>>10), 0xDC00+(r&0x3FF))
}
