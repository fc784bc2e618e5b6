package source

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

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

// leaf is a column of values, with the definition level of those that are there.
type leaf struct {
	column   int
	maxLevel int
}

// textColumns finds the leaf columns of text with these names.
func textColumns(schema *parquet.Schema, names []string) ([]leaf, error) {
	found := make([]leaf, len(names))
	for i, name := range names {
		column, ok := schema.Lookup(name)
		if has := columnNames(schema); !ok && slices.Contains(has, name) {
			return nil, fmt.Errorf("column %q holds a list or struct, not text", name)
		} else if !ok {
			return nil, fmt.Errorf("no column %q; it has %s", name, strings.Join(has, ", "))
		}
		if column.Node.Type().Kind() != parquet.ByteArray || column.MaxRepetitionLevel > 0 {
			return nil, fmt.Errorf("column %q holds %s, not text", name, column.Node.Type())
		}
		found[i] = leaf{column.ColumnIndex, column.MaxDefinitionLevel}
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
func (s *Set) readGroup(ctx context.Context, c chunk, emit func(*Batch) error) error {
	columns := make([]textColumn, len(c.fields))
	for i := range c.fields {
		columns[i] = s.column(c, i)
		defer columns[i].close()
	}
	var inUse sync.WaitGroup
	defer inUse.Wait() // batches share the columns' memory
	rows := int(c.group.NumRows())
	index := 0
	for done := 0; done < rows; index++ {
		b := s.batch(index, done)
		// Only reading is guarded: a panic elsewhere is a fault of this program.
		err := Guard(func() error {
			var err error
			done, err = b.fill(columns, done, rows)
			return err
		})
		if err != nil {
			return &Error{c.file, err}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		b.group = &inUse
		inUse.Add(1)
		if err := emit(b); err != nil {
			return err
		}
	}
	return nil
}

// textColumn gives a column's values one by one.
type textColumn interface {
	// next gives a value, or null as false.
	next() (text []byte, ok bool, err error)
	// lasting says whether the value just given is valid until close; otherwise it
	// is until the next one.
	lasting() bool
	close()
}

// column opens a chunk's i-th field.
func (s *Set) column(c chunk, i int) textColumn {
	field := c.fields[i]
	meta := &c.parsed.Metadata().RowGroups[c.number].Columns[field.column]
	if !readsPages(meta) {
		return newValueReader(c.group.ColumnChunks()[field.column])
	}
	r, ok := s.readers[i].Get().(*pageReader)
	if !ok {
		r = &pageReader{}
	}
	r.free = &s.readers[i]
	r.reset(c.parsed, &meta.MetaData, field.maxLevel)
	return r
}

// valueReader is a column as the parquet library reads it.
type valueReader struct {
	values parquet.ColumnChunkValueReader
	ahead  [valuesAhead]parquet.Value
	have   []parquet.Value
}

func newValueReader(column parquet.ColumnChunk) *valueReader {
	return &valueReader{values: parquet.NewColumnChunkValueReader(column)}
}

func (r *valueReader) next() (text []byte, ok bool, err error) {
	if len(r.have) == 0 {
		n, err := r.values.ReadValues(r.ahead[:])
		if n == 0 {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, false, err
		}
		r.have = r.ahead[:n]
	}
	v := r.have[0]
	r.have = r.have[1:]
	if v.IsNull() {
		return nil, false, nil
	}
	return v.ByteArray(), true, nil
}

func (r *valueReader) lasting() bool { return false }

func (r *valueReader) close() {
	// Nothing was written: a failed close loses nothing.
	_ = r.values.Close()
}
