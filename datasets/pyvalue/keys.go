package pyvalue

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// dictBuilder collects a dict's items. A key equal to an earlier one, such as
// True after 1, replaces its value and keeps its place, as in Python.
type dictBuilder struct {
	items []Value
	at    map[string]int // index in items by canonical key, once there are many
}

// manyKeys is where a map beats comparing each key.
const manyKeys = 12

// put adds an item; the key is [hashable].
func (d *dictBuilder) put(key, value Value) {
	if i := d.find(key); i >= 0 {
		d.items[i+1] = value
		return
	}
	if d.at != nil {
		d.at[canonical(key)] = len(d.items)
	}
	d.items = append(d.items, key, value)
}

func (d *dictBuilder) find(key Value) int {
	if len(d.items) < 2*manyKeys {
		for i := 0; i < len(d.items); i += 2 {
			if equalKeys(d.items[i], key) {
				return i
			}
		}
		return -1
	}
	if d.at == nil {
		d.at = make(map[string]int, len(d.items))
		for i := 0; i < len(d.items); i += 2 {
			d.at[canonical(d.items[i])] = i
		}
	}
	if i, ok := d.at[canonical(key)]; ok {
		return i
	}
	return -1
}

func (d *dictBuilder) value() Value { return Value{Kind: Dict, Items: d.items} }

func equalKeys(a, b Value) bool {
	if a.Kind == Str || b.Kind == Str {
		return a.Kind == b.Kind && a.Text == b.Text
	}
	return canonical(a) == canonical(b)
}

// hashable fails as Python does for keys and set elements that may change.
func hashable(v Value) error {
	switch v.Kind {
	case List, Dict, Set:
		return &Raised{"TypeError", "unhashable type: '" + v.Kind.String() + "'"}
	case Tuple:
		for _, item := range v.Items {
			if err := hashable(item); err != nil {
				return err
			}
		}
	}
	return nil
}

// canonical is a text that is the same exactly for keys that Python holds equal:
// numbers of equal value are, whatever their types.
func canonical(v Value) string {
	switch v.Kind {
	case Bool, Float:
		return canonicalFloat(v.Real)
	case Int:
		return "n" + v.Text
	case Complex:
		if v.Imag == 0 {
			return canonicalFloat(v.Real)
		}
		return "c" + canonicalFloat(v.Real) + "," + canonicalFloat(v.Imag)
	case Tuple:
		var b strings.Builder
		b.WriteByte('t')
		for _, item := range v.Items {
			key := canonical(item)
			b.WriteString(strconv.Itoa(len(key)) + ":" + key)
		}
		return b.String()
	default:
		return string('A'+rune(v.Kind)) + v.Text
	}
}

func canonicalFloat(f float64) string {
	if f != math.Trunc(f) || math.IsInf(f, 0) {
		return "f" + strconv.FormatFloat(f, 'x', -1, 64)
	}
	n, _ := big.NewFloat(f).Int(nil)
	return "n" + n.String()
}
