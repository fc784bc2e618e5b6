// Package table declares parquet schemas whose columns keep their order, and the
// settings with which files are written here.
package table

import (
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
)

// Column is a named part of a schema.
type Column struct {
	Name string
	Node parquet.Node
}

// group is a struct whose members stay in the order they were declared in;
// [parquet.Group] sorts them.
type group struct {
	parquet.Group
	names []string
}

// Fields returns the members in order.
func (g group) Fields() []parquet.Field {
	byName := make(map[string]parquet.Field, len(g.names))
	for _, field := range g.Group.Fields() {
		byName[field.Name()] = field
	}
	fields := make([]parquet.Field, len(g.names))
	for i, name := range g.names {
		fields[i] = byName[name]
	}
	return fields
}

// Struct is a group of columns in this order.
func Struct(columns ...Column) parquet.Node {
	g := group{Group: make(parquet.Group, len(columns))}
	for _, c := range columns {
		g.Group[c.Name] = c.Node
		g.names = append(g.names, c.Name)
	}
	return g
}

// Text is a nullable column of long text.
func Text() parquet.Node {
	return parquet.Optional(parquet.Encoded(parquet.String(), &parquet.Plain))
}

// Label is a nullable column of text with few different values.
func Label() parquet.Node {
	return parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary))
}

// Int64 is a nullable column of integers.
func Int64() parquet.Node { return parquet.Optional(parquet.Int(64)) }

// List is a nullable list of nullable elements, in the three levels that the
// format prescribes.
func List(of parquet.Node) parquet.Node { return parquet.Optional(parquet.List(of)) }

// Nullable makes a struct nullable.
func Nullable(node parquet.Node) parquet.Node { return parquet.Optional(node) }

// Schema names a schema as pyarrow does.
func Schema(root parquet.Node) *parquet.Schema { return parquet.NewSchema("schema", root) }

// Recoded is a file's schema without the compression and encodings that the
// file was written with, so that it can be written anew.
func Recoded(schema *parquet.Schema) *parquet.Schema { return Schema(recoded{schema}) }

type recoded struct{ parquet.Node }

// Compression leaves the choice to the writer.
func (recoded) Compression() compress.Codec { return nil }

// Encoding is a dictionary for text and the format's plain one otherwise; the
// writer gives a dictionary up where it grows large.
func (r recoded) Encoding() encoding.Encoding {
	if r.Leaf() && r.Type().Kind() == parquet.ByteArray {
		return &parquet.RLEDictionary
	}
	return nil
}

// Fields returns the members, recoded likewise.
func (r recoded) Fields() []parquet.Field {
	fields := r.Node.Fields()
	wrapped := make([]parquet.Field, len(fields))
	for i, field := range fields {
		wrapped[i] = recodedField{recoded{field}, field}
	}
	return wrapped
}

type recodedField struct {
	recoded
	field parquet.Field
}

// Name is the member's name.
func (f recodedField) Name() string { return f.field.Name() }

// Value is the member of a Go value.
func (f recodedField) Value(base reflect.Value) reflect.Value { return f.field.Value(base) }
