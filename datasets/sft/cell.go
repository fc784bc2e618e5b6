package sft

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

var (
	errLevels  = errors.New("the levels of a nested column do not fit together")
	errNotUTF8 = errors.New("a text is not UTF-8")
)

// cellJSON writes a column of a row as JSON.
func cellJSON(s spot, row parquet.Row) (json.RawMessage, error) {
	columns := make([][]parquet.Value, leaves(s.node))
	for i := range columns {
		columns[i] = column(row, s.leaf+i)
	}
	var c cell
	if err := c.value(s, columns); err != nil {
		return nil, err
	}
	return c.out.Bytes(), nil
}

// cell is a JSON text being written.
type cell struct{ out bytes.Buffer }

// value writes a node that is there once per columns: the leaves below it, each
// with the values of this one instance.
func (c *cell) value(s spot, columns [][]parquet.Value) error {
	if len(columns) == 0 || len(columns[0]) == 0 {
		return errLevels
	}
	if s.node.Repeated() {
		return c.list(s, plain(s), columns)
	}
	if columns[0][0].DefinitionLevel() < s.definition {
		c.out.WriteString("null")
		return nil
	}
	return c.present(s, columns)
}

// present writes a node that is not null.
func (c *cell) present(s spot, columns [][]parquet.Value) error {
	if s.node.Leaf() {
		return c.scalar(s.node, columns[0][0])
	}
	items, ok := s.items()
	switch {
	case !ok:
		return c.object(s, columns)
	case isMap(items):
		return c.mapping(items, columns)
	}
	if element, ok := s.element(); ok {
		return c.list(items, element, columns)
	}
	return c.list(items, plain(items), columns)
}

// isMap tells a map's repeated node from a list's.
func isMap(items spot) bool {
	if items.node.Leaf() {
		return false
	}
	fields := items.node.Fields()
	return len(fields) == 2 && fields[0].Name() == "key" && fields[1].Name() == "value"
}

// elements cuts columns at the elements of a repeated node.
func elements(items spot, columns [][]parquet.Value) ([][][]parquet.Value, error) {
	if columns[0][0].DefinitionLevel() < items.definition {
		return nil, nil
	}
	var cut [][][]parquet.Value
	for i, values := range columns {
		n := 0
		for start := 0; start < len(values); n++ {
			end := start + 1
			for end < len(values) && values[end].RepetitionLevel() > items.repetition {
				end++
			}
			if i == 0 {
				cut = append(cut, make([][]parquet.Value, len(columns)))
			}
			if n >= len(cut) {
				return nil, errLevels
			}
			cut[n][i] = values[start:end]
			start = end
		}
		if n != len(cut) {
			return nil, errLevels
		}
	}
	return cut, nil
}

func (c *cell) list(items, element spot, columns [][]parquet.Value) error {
	each, err := elements(items, columns)
	if err != nil {
		return err
	}
	c.out.WriteByte('[')
	for i, one := range each {
		if i > 0 {
			c.out.WriteByte(',')
		}
		if err := c.value(element, one); err != nil {
			return err
		}
	}
	c.out.WriteByte(']')
	return nil
}

// plain is a repeated node as what each of its elements is.
func plain(s spot) spot {
	s.node = parquet.Required(s.node)
	return s
}

func (c *cell) mapping(items spot, columns [][]parquet.Value) error {
	each, err := elements(items, columns)
	if err != nil {
		return err
	}
	key, _ := items.child("key")
	value, _ := items.child("value")
	if !key.node.Leaf() || key.node.Type().Kind() != parquet.ByteArray {
		return fmt.Errorf("%w: a map whose keys are no text", ErrSchema)
	}
	c.out.WriteByte('{')
	for i, one := range each {
		if i > 0 {
			c.out.WriteByte(',')
		}
		if err := c.value(key, one[:1]); err != nil {
			return err
		}
		c.out.WriteByte(':')
		if err := c.value(value, one[1:]); err != nil {
			return err
		}
	}
	c.out.WriteByte('}')
	return nil
}

// object writes a struct's members, but for those that are null.
func (c *cell) object(s spot, columns [][]parquet.Value) error {
	c.out.WriteByte('{')
	first, at := true, 0
	for _, field := range s.node.Fields() {
		member := s.enter(field, s.leaf+at)
		values := columns[at : at+leaves(field)]
		at += leaves(field)
		if len(values) == 0 || len(values[0]) == 0 {
			return errLevels
		}
		if field.Optional() && values[0][0].DefinitionLevel() < member.definition {
			continue
		}
		if !first {
			c.out.WriteByte(',')
		}
		first = false
		if err := c.text(field.Name()); err != nil {
			return err
		}
		c.out.WriteByte(':')
		if err := c.value(member, values); err != nil {
			return err
		}
	}
	c.out.WriteByte('}')
	return nil
}

func (c *cell) scalar(node parquet.Node, v parquet.Value) error {
	switch v.Kind() {
	case parquet.Boolean:
		c.out.WriteString(strconv.FormatBool(v.Boolean()))
	case parquet.Int32:
		c.integer(node, int64(v.Int32()), uint64(v.Uint32()))
	case parquet.Int64:
		c.integer(node, v.Int64(), v.Uint64())
	case parquet.Float:
		return c.float(float64(v.Float()))
	case parquet.Double:
		return c.float(v.Double())
	case parquet.ByteArray:
		return c.text(string(v.ByteArray()))
	default:
		return fmt.Errorf("%w: a value of type %s in a conversation", ErrSchema, node.Type())
	}
	return nil
}

func (c *cell) integer(node parquet.Node, signed int64, unsigned uint64) {
	if t := node.Type().LogicalType(); t != nil && isUnsigned(t) {
		c.out.WriteString(strconv.FormatUint(unsigned, 10))
		return
	}
	c.out.WriteString(strconv.FormatInt(signed, 10))
}

func isUnsigned(t *format.LogicalType) bool {
	integer, ok := t.Value.(*format.IntType)
	return ok && !integer.IsSigned
}

// float keeps a whole number a float.
func (c *cell) float(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("the number %v, which JSON does not have", f)
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	c.out.WriteString(text)
	return nil
}

func (c *cell) text(s string) error {
	if !utf8.ValidString(s) {
		return errNotUTF8
	}
	enc := json.NewEncoder(&c.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return err
	}
	c.out.Truncate(c.out.Len() - 1) // the encoder's newline
	return nil
}
