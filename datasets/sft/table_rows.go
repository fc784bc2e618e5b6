package sft

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/coderl/cr/datasets/source"
)

// readTable reads a parquet file's conversations.
func readTable(ctx context.Context, name string, columns Columns, use func(Row) error) (err error) {
	file, parsed, err := source.OpenParquet(name)
	if err != nil {
		return &source.Error{File: name, Err: err}
	}
	defer func() {
		// Nothing was written: a failed close loses nothing.
		_ = file.Close()
	}()
	if err := checkDepth(parsed.Schema(), 0); err != nil {
		return &source.Error{File: name, Err: err}
	}
	t := tableReader{name: name, use: use}
	if t.messages, err = t.field(parsed.Schema(), columns.Messages); err == nil && t.messages == nil {
		err = fmt.Errorf("%w: no column %q", ErrSchema, columns.Messages)
	}
	if err == nil {
		t.tools, err = t.field(parsed.Schema(), columns.Tools)
	}
	if err == nil {
		t.thinking, err = t.field(parsed.Schema(), columns.Thinking)
	}
	if err != nil {
		return &source.Error{File: name, Err: err}
	}
	for _, group := range parsed.RowGroups() {
		if err := t.readGroup(ctx, group); err != nil {
			return err
		}
	}
	return nil
}

// maxDepth bounds the nesting of a schema.
const maxDepth = 64

func checkDepth(node parquet.Node, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: columns nested deeper than %d", ErrSchema, maxDepth)
	}
	if node.Leaf() {
		return nil
	}
	for _, field := range node.Fields() {
		if err := checkDepth(field, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// tableReader turns rows of one file into JSON.
type tableReader struct {
	name                      string
	number                    int // rows so far
	messages, tools, thinking *spot
	use                       func(Row) error
}

// field finds a column; nil: there is none.
func (t *tableReader) field(schema *parquet.Schema, name string) (*spot, error) {
	s, ok := root(schema).child(name)
	if !ok {
		return nil, nil
	}
	return &s, nil
}

func (t *tableReader) readGroup(ctx context.Context, group parquet.RowGroup) error {
	reader := group.Rows()
	rows := make([]parquet.Row, rowsAtOnce)
	for {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, reader.Close())
		}
		n, err := readRows(reader, rows)
		if err != nil && !errors.Is(err, io.EOF) {
			return errors.Join(&source.Error{File: t.name, Err: fmt.Errorf("row %d: %w", t.number+n, err)}, reader.Close())
		}
		for _, row := range rows[:n] {
			if err := t.row(row); err != nil {
				return errors.Join(err, reader.Close())
			}
		}
		if err != nil || n == 0 {
			return reader.Close()
		}
	}
}

func (t *tableReader) row(row parquet.Row) error {
	out := Row{File: t.name, Number: t.number}
	t.number++
	for _, part := range []struct {
		at   *spot
		into *json.RawMessage
	}{{t.messages, &out.Messages}, {t.tools, &out.Tools}, {t.thinking, &out.Thinking}} {
		if part.at == nil {
			continue
		}
		text, err := cellJSON(*part.at, row)
		if err != nil {
			return &source.Error{File: t.name, Err: fmt.Errorf("row %d: %w", out.Number, err)}
		}
		*part.into = notNull(text)
	}
	return t.use(out)
}
