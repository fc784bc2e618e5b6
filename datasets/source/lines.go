package source

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/coderl/cr/datasets/pyvalue"
	"github.com/coderl/cr/internal/lines"
)

// maxLine bounds one row of a JSONL file.
const maxLine = 1 << 30

// readLines splits a JSONL file into batches of rows; blank lines are no rows.
func readLines(ctx context.Context, name string, emit func(*Batch) error) error {
	file, err := os.Open(name)
	if err != nil {
		return &Error{name, err}
	}
	defer file.Close()
	reader := bufio.NewReaderSize(file, 1<<20)
	batch, size := &Batch{lines: []line{}}, 0
	for number := 1; ; number++ {
		text, err := lines.Read(reader, maxLine)
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return &Error{name, fmt.Errorf("line %d: %w", number, err)}
		}
		if number == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			batch.lines = append(batch.lines, line{number, string(text)})
			size += len(text)
		}
		if (size >= batchBytes || last) && len(batch.lines) > 0 {
			if err := errors.Join(ctx.Err(), emit(batch)); err != nil {
				return err
			}
			batch = &Batch{Index: batch.Index + 1, First: batch.First + len(batch.lines), lines: []line{}}
			size = 0
		}
		if last {
			return nil
		}
	}
}

func (b *Batch) parseLine(l line) ([]Field, error) {
	row, err := pyvalue.ParseJSON(l.text)
	if err == nil && row.Kind != pyvalue.Dict {
		err = errors.New("not a JSON object")
	}
	if err != nil {
		return nil, &Error{b.name, fmt.Errorf("line %d: %w", l.number, err)}
	}
	// A field that a row lacks is null; a row that lacks all is no row of ours.
	fields, known := make([]Field, len(b.wanted)), false
	for i, name := range b.wanted {
		v, ok := row.Get(name)
		known = known || ok
		switch {
		case v.Kind == pyvalue.Str:
			fields[i] = Field{Text, v.Text}
		case v.Kind != pyvalue.None:
			fields[i].Kind = Other
		}
	}
	if !known {
		return nil, &Error{b.name, fmt.Errorf("line %d: none of the fields %s", l.number, strings.Join(b.wanted, ", "))}
	}
	return fields, nil
}
