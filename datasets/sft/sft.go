// Package sft keeps the conversations of a data set that teach writing code with
// tools, as the ScaleBox recipe's filter_sft_data.py does. Rows are copied
// column by column as they are, whatever their schema.
package sft

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/coderl/cr/datasets/source"
	"github.com/coderl/cr/datasets/table"
	"github.com/coderl/cr/internal/atomicfile"
)

// Reason is why a row was dropped.
type Reason string

// The reasons, in the order in which a row meets them.
const (
	PythonRaises  Reason = "python_raises"   // no messages or no last content; Python would stop here
	NoAssistant   Reason = "no_assistant"    // no message of the assistant
	NoToolCall    Reason = "no_tool_call"    // no tool call by the assistant
	NoToolResult  Reason = "no_tool_result"  // no message of a tool
	NoFinalPython Reason = "no_final_python" // the last answer has no python fence
	Boxed         Reason = "boxed"           // the last answer is \boxed
)

// Summary is what a filtering did.
type Summary struct {
	Rows    int            `json:"rows"`
	Kept    int            `json:"kept"`
	Dropped map[Reason]int `json:"dropped"`
}

// Options of a filtering.
type Options struct {
	Progress func(done, total int64) // rows; may be nil
	Log      *slog.Logger            // examples of dropped rows; nil for none
}

// ErrSchema means that a file has no messages as conversations have them, or
// not the schema of the files before it.
var ErrSchema = errors.New("unfit schema")

// maxExamples is how many dropped rows of a reason are logged.
const maxExamples = 3

// Filter writes the rows of the parquet files that pass to out, in their order
// and with all columns, compressed by zstd. out appears whole or not at all.
func Filter(ctx context.Context, files []string, out string, o Options) (_ Summary, err error) {
	f := &filter{options: o, summary: Summary{Dropped: make(map[Reason]int)}}
	defer func() { err = errors.Join(err, f.close()) }()
	for _, name := range files {
		if err := f.open(name); err != nil {
			return Summary{}, &source.Error{File: name, Err: err}
		}
	}
	err = atomicfile.Write(out, func(w io.Writer) error { return f.copy(ctx, w) })
	return f.summary, err
}

// input is one file to be filtered.
type input struct {
	name   string
	file   *os.File
	parsed *parquet.File
}

type filter struct {
	options Options
	inputs  []input
	total   int64
	rule    rule
	summary Summary
}

func (f *filter) open(name string) error {
	file, parsed, err := source.OpenParquet(name)
	if err != nil {
		return err
	}
	f.inputs = append(f.inputs, input{name, file, parsed})
	f.total += parsed.NumRows()
	if len(f.inputs) > 1 {
		if first := f.inputs[0]; !parquet.EqualNodes(first.parsed.Schema(), parsed.Schema()) {
			return fmt.Errorf("%w: its columns are not those of %s", ErrSchema, first.name)
		}
		return nil
	}
	f.rule, err = newRule(parsed.Schema())
	return err
}

func (f *filter) close() error {
	var errs []error
	for _, in := range f.inputs {
		errs = append(errs, in.file.Close())
	}
	return errors.Join(errs...)
}

func (f *filter) copy(ctx context.Context, w io.Writer) error {
	schema := table.Recoded(f.inputs[0].parsed.Schema())
	config, err := parquet.NewWriterConfig(table.Writer(schema, &parquet.Zstd, longColumns(schema)...)...)
	if err != nil {
		return err
	}
	out := &sink{writer: parquet.NewGenericWriter[any](w, config)}
	for _, in := range f.inputs {
		if err := f.copyFile(ctx, in, out); err != nil {
			return err
		}
	}
	return out.writer.Close()
}

// longColumns are all columns of text: messages are long.
func longColumns(schema *parquet.Schema) (paths [][]string) {
	for _, path := range schema.Columns() {
		if leaf, ok := schema.Lookup(path...); ok && leaf.Node.Type().Kind() == parquet.ByteArray {
			paths = append(paths, path)
		}
	}
	return paths
}

// rowsAtOnce is how many rows are in memory besides the row group.
const rowsAtOnce = 16

func (f *filter) copyFile(ctx context.Context, in input, out *sink) error {
	rows := make([]parquet.Row, rowsAtOnce)
	for _, group := range in.parsed.RowGroups() {
		reader := group.Rows()
		err := f.copyGroup(ctx, in.name, reader, rows, out)
		if err := errors.Join(err, reader.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (f *filter) copyGroup(ctx context.Context, name string, reader parquet.RowReader, rows []parquet.Row, out *sink) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := readRows(reader, rows)
		if err != nil && !errors.Is(err, io.EOF) {
			return &source.Error{File: name, Err: fmt.Errorf("row %d: %w", f.summary.Rows+n, err)}
		}
		passing := slices.DeleteFunc(slices.Clone(rows[:n]), func(row parquet.Row) bool { return !f.passes(row) })
		if err := out.write(passing); err != nil {
			return err
		}
		if f.options.Progress != nil {
			f.options.Progress(int64(f.summary.Rows), f.total)
		}
		if err != nil || n == 0 {
			return nil
		}
	}
}

// readRows reads some rows; a panic over a damaged file is an error.
func readRows(reader parquet.RowReader, rows []parquet.Row) (n int, err error) {
	err = source.Guard(func() error {
		var err error
		n, err = reader.ReadRows(rows)
		return err
	})
	return n, err
}

// passes counts a row and says whether it is kept.
func (f *filter) passes(row parquet.Row) bool {
	number := f.summary.Rows
	f.summary.Rows++
	reason := f.rule.apply(row)
	if reason == "" {
		f.summary.Kept++
		return true
	}
	f.summary.Dropped[reason]++
	if f.options.Log != nil && f.summary.Dropped[reason] <= maxExamples {
		f.options.Log.Info("dropped", "row", number, "reason", string(reason))
	}
	return false
}

// sink writes rows and ends row groups by their bytes.
type sink struct {
	writer *parquet.GenericWriter[any]
	size   int
}

func (s *sink) write(rows []parquet.Row) error {
	if len(rows) == 0 {
		return nil
	}
	if _, err := s.writer.WriteRows(rows); err != nil {
		return err
	}
	for _, row := range rows {
		for _, v := range row {
			if v.Kind() == parquet.ByteArray {
				s.size += len(v.ByteArray())
			}
		}
	}
	if s.size < table.RowGroupBytes {
		return nil
	}
	s.size = 0
	return s.writer.Flush()
}
