// Package pickle decodes Python pickles without running anything: a pickle is a
// program for a small stack machine, and this one knows data, and beyond it only
// the globals its caller lists. Everything else is refused by a typed error.
package pickle

import (
	"fmt"
	"math/big"
)

// The values a pickle decodes to are: nil, bool, int64, *big.Int (beyond int64),
// float64, string, [Bytes], [Tuple], *[List], *[Dict], and, where the caller allows
// globals, [Global] and what the constructors return.
type (
	// Bytes is a bytes object.
	Bytes []byte
	// Tuple is a tuple.
	Tuple []any
	// List is a list; a pickle may refer to the same one twice.
	List struct{ Items []any }
	// Dict is a dict in insertion order.
	Dict struct{ Items []Item }
	// Item is one entry of a Dict; a later entry of the same key stands.
	Item struct{ Key, Value any }
)

// Get returns the value of a string key.
func (d *Dict) Get(key string) (any, bool) {
	for i := len(d.Items) - 1; i >= 0; i-- {
		if d.Items[i].Key == key {
			return d.Items[i].Value, true
		}
	}
	return nil, false
}

// Global names a class or function, as in collections.OrderedDict. On the
// stack it is a value too: torch names storage types without calling them.
type Global struct{ Module, Name string }

// Constructor stands for a global when the pickle calls it.
type Constructor func(args Tuple) (any, error)

// StateSetter is a value that accepts the state a pickle gives it after its
// construction (__setstate__).
type StateSetter interface {
	SetState(state any) error
}

// Options are what a caller allows. The zero value allows plain data.
type Options struct {
	// Globals are the names a pickle may refer to; those with a nil constructor
	// may not be called.
	Globals map[Global]Constructor
	// Persistent resolves a persistent id (torch's storages); nil refuses them.
	Persistent func(id any) (any, error)
	Limits     Limits
}

// Limits bound a pickle; a zero field means its default.
type Limits struct {
	Bytes  int // of input, 1 GiB
	Values int // pushed on the stack, 16 Mi
	Memo   int // remembered values, 1 Mi
	Depth  int // of nested containers, 100
}

func (l Limits) withDefaults() Limits {
	for _, field := range []struct {
		value   *int
		assumed int
	}{{&l.Bytes, 1 << 30}, {&l.Values, 1 << 24}, {&l.Memo, 1 << 20}, {&l.Depth, 100}} {
		if *field.value == 0 {
			*field.value = field.assumed
		}
	}
	return l
}

// ForbiddenError is an opcode or a global that the caller did not allow.
type ForbiddenError struct {
	Offset int    // of the opcode
	What   string // "global os.system", "opcode 0x69"
}

func (e *ForbiddenError) Error() string {
	return fmt.Sprintf("pickle: offset %d: %s is not allowed", e.Offset, e.What)
}

// FormatError is a pickle that is damaged or beyond a limit.
type FormatError struct {
	Offset int
	Reason string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("pickle: offset %d: %s", e.Offset, e.Reason)
}

// Decode reads one pickle of protocols 2 to 5. Bytes after its end are an error.
func Decode(data []byte, opts Options) (any, error) {
	m := machine{data: data, globals: opts.Globals, persistent: opts.Persistent, limits: opts.Limits.withDefaults()}
	if len(data) > m.limits.Bytes {
		return nil, m.broken("%d bytes, more than the %d allowed", len(data), m.limits.Bytes)
	}
	v, err := m.run()
	if err != nil {
		return nil, err
	}
	if m.pos != len(data) {
		return nil, m.broken("%d bytes after the end", len(data)-m.pos)
	}
	if err := m.checkShape(v); err != nil {
		return nil, err
	}
	return v, nil
}

// integer returns little-endian two's complement as int64 or *big.Int.
func integer(b []byte) any {
	magnitude := make([]byte, len(b))
	for i, c := range b {
		magnitude[len(b)-1-i] = c
	}
	n := new(big.Int).SetBytes(magnitude)
	if len(b) > 0 && b[len(b)-1] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(b)*8)))
	}
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}
