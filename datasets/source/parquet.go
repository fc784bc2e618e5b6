package source

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/parquet-go/parquet-go"
)

const (
	readBuffer  = 256 << 10 // of each column, between disk and decompression
	valuesAhead = 64        // values taken off a page at a time
)

// OpenParquet opens a parquet file and reads its footer.
func OpenParquet(name string) (*os.File, *parquet.File, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	var parsed *parquet.File
	err = Guard(func() error {
		info, err := file.Stat()
		if err != nil {
			return err
		}
		if err := checkFooter(file, info.Size()); err != nil {
			return err
		}
		parsed, err = parquet.OpenFile(file, info.Size(),
			parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(readBuffer))
		return err
	})
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, parsed, nil
}

// checkFooter refuses a footer longer than its file before memory is taken for it.
func checkFooter(r io.ReaderAt, size int64) error {
	const frame = 12 // magic twice, and the footer's length
	if size < frame {
		return errors.New("too short for a parquet file")
	}
	var tail [8]byte
	if _, err := r.ReadAt(tail[:], size-int64(len(tail))); err != nil {
		return err
	}
	if string(tail[4:]) != "PAR1" {
		return errors.New("not a parquet file, or cut short")
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:])); n > size-frame {
		return fmt.Errorf("a footer of %d bytes in a file of %d", n, size)
	}
	return nil
}

// textColumns finds the leaf columns of text with these names.
func textColumns(schema *parquet.Schema, names []string) ([]int, error) {
	found := make([]int, len(names))
	for i, name := range names {
		leaf, ok := schema.Lookup(name)
		if !ok {
			return nil, fmt.Errorf("no column %q; it has %s", name, strings.Join(columnNames(schema), ", "))
		}
		if leaf.Node.Type().Kind() != parquet.ByteArray || leaf.MaxRepetitionLevel > 0 {
			return nil, fmt.Errorf("column %q holds %s, not text", name, leaf.Node.Type())
		}
		found[i] = leaf.ColumnIndex
	}
	return found, nil
}

func columnNames(schema *parquet.Schema) []string {
	var names []string
	for _, field := range schema.Fields() {
		names = append(names, field.Name())
	}
	return names
}

// readGroup reads the chosen columns of a row group side by side.
func readGroup(ctx context.Context, c chunk, emit func(*Batch) error) error {
	columns := make([]*columnReader, len(c.fields))
	for i, field := range c.fields {
		columns[i] = newColumnReader(c.group.ColumnChunks()[field])
		defer columns[i].close()
	}
	rows := int(c.group.NumRows())
	filling := filler{columns: len(columns)}
	for done := 0; done < rows; {
		// Only reading is guarded: a panic elsewhere is a fault of this program.
		err := Guard(func() error {
			var err error
			done, err = filling.fill(columns, done, rows)
			return err
		})
		if err != nil {
			return &Error{c.file, err}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := emit(filling.batch()); err != nil {
			return err
		}
	}
	return nil
}

// filler collects the fields of a batch. Their text lies in one piece of memory,
// which becomes a string once it is complete.
type filler struct {
	columns int
	index   int
	first   int
	text    []byte
	ends    []int // of each field in text; below zero: null
}

// fill takes rows from done on until the batch is full, and returns how many
// are done then.
func (f *filler) fill(columns []*columnReader, done, rows int) (int, error) {
	for ; done < rows && len(f.text) < batchBytes; done++ {
		for i, column := range columns {
			if err := f.take(column); err != nil {
				return done, fmt.Errorf("row %d of a row group, text column %d: %w", done, i+1, err)
			}
		}
	}
	return done, nil
}

func (f *filler) take(column *columnReader) error {
	v, err := column.next()
	if err != nil {
		return err
	}
	if v.IsNull() {
		f.ends = append(f.ends, -1)
		return nil
	}
	f.text = append(f.text, v.ByteArray()...)
	f.ends = append(f.ends, len(f.text))
	return nil
}

func (f *filler) batch() *Batch {
	text, start := string(f.text), 0
	fields := make([]Field, len(f.ends))
	for i, end := range f.ends {
		if end >= 0 {
			fields[i] = Field{Kind: Text, Text: text[start:end]}
			start = end
		}
	}
	b := &Batch{Index: f.index, First: f.first, fields: fields}
	f.index++
	f.first += len(fields) / f.columns
	f.text, f.ends = f.text[:0], f.ends[:0]
	return b
}

// columnReader gives a column's values one by one.
type columnReader struct {
	values parquet.ColumnChunkValueReader
	ahead  [valuesAhead]parquet.Value
	have   []parquet.Value
}

func newColumnReader(column parquet.ColumnChunk) *columnReader {
	return &columnReader{values: parquet.NewColumnChunkValueReader(column)}
}

func (r *columnReader) next() (parquet.Value, error) {
	if len(r.have) == 0 {
		n, err := r.values.ReadValues(r.ahead[:])
		if n == 0 {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return parquet.Value{}, err
		}
		r.have = r.ahead[:n]
	}
	v := r.have[0]
	r.have = r.have[1:]
	return v, nil
}

func (r *columnReader) close() {
	// Nothing was written: a failed close loses nothing.
	_ = r.values.Close()
}
