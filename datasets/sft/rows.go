package sft

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/coderl/cr/datasets/source"
	"github.com/coderl/cr/internal/lines"
)

// Row is one conversation of a data set, in JSON; a field that is null or absent
// is nil.
type Row struct {
	File   string
	Number int  // of the row in the file, from 0; of the line, from 1, in JSONL
	Line   bool // Number is a line's

	Messages json.RawMessage // as a rule a list of objects; what it is not, the reader of the conversation says
	Tools    json.RawMessage
	Thinking json.RawMessage // enable_thinking
}

// Name says where the row is: "FILE: row 3" or "FILE: line 4".
func (r Row) Name() string {
	if r.Line {
		return fmt.Sprintf("%s: line %d", r.File, r.Number)
	}
	return fmt.Sprintf("%s: row %d", r.File, r.Number)
}

// Columns are the names under which a data set keeps a conversation's parts.
type Columns struct {
	Messages, Tools, Thinking string
}

// DefaultColumns are verl's and the recipe's.
func DefaultColumns() Columns { return Columns{"messages", "tools", "enable_thinking"} }

// maxRow bounds the text of one conversation.
const maxRow = 256 << 20

// Read gives the rows of parquet and JSONL files to use, in order. Columns other
// than the three are not read. In parquet, a struct's members that are null are
// left out, as the format has no other way to leave one out; the elements of
// lists and the values of maps stay null. An error of use ends the reading and is
// returned; a file that cannot be read is a *[source.Error].
func Read(ctx context.Context, files []string, columns Columns, use func(Row) error) error {
	for _, name := range files {
		read := readTable
		if strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".json") {
			read = readLines
		}
		if err := read(ctx, name, columns, use); err != nil {
			return err
		}
	}
	return nil
}

// readLines reads a JSONL file; blank lines are no rows.
func readLines(ctx context.Context, name string, columns Columns, use func(Row) error) error {
	file, err := os.Open(name)
	if err != nil {
		return &source.Error{File: name, Err: err}
	}
	defer file.Close()
	reader := bufio.NewReaderSize(file, 1<<20)
	for number := 1; ; number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		text, err := lines.Read(reader, maxRow)
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return &source.Error{File: name, Err: fmt.Errorf("line %d: %w", number, err)}
		}
		if number == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			row, err := parseLine(text, columns)
			if err != nil {
				return &source.Error{File: name, Err: fmt.Errorf("line %d: %w", number, err)}
			}
			row.File, row.Number, row.Line = name, number, true
			if err := use(row); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

func parseLine(text []byte, columns Columns) (Row, error) {
	// The decoder would put U+FFFD into conversations without a word.
	if !utf8.Valid(text) {
		return Row{}, errors.New("the text is not UTF-8")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return Row{}, err
	}
	messages, ok := fields[columns.Messages]
	if !ok {
		return Row{}, fmt.Errorf("no field %q", columns.Messages)
	}
	return Row{
		Messages: notNull(messages),
		Tools:    notNull(fields[columns.Tools]),
		Thinking: notNull(fields[columns.Thinking]),
	}, nil
}

func notNull(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}
