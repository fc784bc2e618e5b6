package source

import (
	"fmt"
	"sync"
	"unsafe"
)

// Field is one cell of a row.
type Field struct {
	Kind FieldKind
	Text string // of a Text field: UTF-8 unless the source's is not
}

// FieldKind tells text from its absence.
type FieldKind uint8

// The kinds of a field. Other is a value that is no text, as JSON may have.
const (
	Null FieldKind = iota
	Text
	Other
)

// Batch is a run of rows of one chunk.
type Batch struct {
	Chunk int // chunks count through all files, in order
	Index int // of the batch within its chunk
	First int // the first row's index within the chunk

	name    string
	columns int
	fields  []Field // parquet: row by row, sharing memory of text or of their columns
	text    []byte  // of fields that their columns do not keep
	copied  []copied
	group   *sync.WaitGroup // of the row group's batches that are in use
	free    *sync.Pool      // where the batch goes once it is released
	lines   []line          // JSONL: rows still to be parsed
	wanted  []string
}

// copied is a field whose text was copied into the batch, up to end.
type copied struct{ field, end int }

// line is a row of a JSONL file.
type line struct {
	number int
	text   string
}

// Len is the number of rows.
func (b *Batch) Len() int {
	if b.lines != nil {
		return len(b.lines)
	}
	return len(b.fields) / b.columns
}

// Row returns row i's fields in the order of the columns asked for. A line that
// is not a JSON object is an error that names it.
func (b *Batch) Row(i int) ([]Field, error) {
	if b.lines != nil {
		return b.parseLine(b.lines[i])
	}
	return b.fields[i*b.columns : (i+1)*b.columns], nil
}

// maxCells bounds the fields of a batch: nulls have no text.
const maxCells = 1 << 16

// batch is an empty batch of a row group.
func (s *Set) batch(index, first int) *Batch {
	b, ok := s.batches.Get().(*Batch)
	if !ok {
		b = &Batch{}
	}
	b.free, b.Index, b.First = &s.batches, index, first
	b.fields, b.text, b.copied = b.fields[:0], b.text[:0], b.copied[:0]
	return b
}

// fill takes rows from done on until the batch is full, and returns how many
// are done then.
func (b *Batch) fill(columns []textColumn, done, rows int) (int, error) {
	for size := 0; done < rows && size < batchBytes && len(b.fields) < maxCells; done++ {
		for i, column := range columns {
			text, ok, err := column.next()
			if err != nil {
				return done, fmt.Errorf("row %d of a row group, text column %d: %w", done, i+1, err)
			}
			size += len(text)
			b.add(text, ok, column.lasting())
		}
	}
	b.cut()
	return done, nil
}

// add appends a field. Text that lasts is used where it lies: a build reads no
// byte more often than it must.
func (b *Batch) add(text []byte, ok, lasting bool) {
	switch {
	case !ok:
		b.fields = append(b.fields, Field{})
	case lasting:
		b.fields = append(b.fields, Field{Text, unsafe.String(unsafe.SliceData(text), len(text))})
	default:
		if b.text == nil {
			b.text = make([]byte, 0, batchBytes+batchBytes/4)
		}
		b.text = append(b.text, text...)
		b.copied = append(b.copied, copied{len(b.fields), len(b.text)})
		b.fields = append(b.fields, Field{Kind: Text})
	}
}

// cut gives the copied fields their text once it no longer moves.
func (b *Batch) cut() {
	start := 0
	for _, c := range b.copied {
		b.fields[c.field].Text = unsafe.String(unsafe.SliceData(b.text[start:c.end]), c.end-start)
		start = c.end
	}
}

// Release ends the use of a batch and of its fields' texts, whose memory takes
// another batch's.
func (b *Batch) Release() {
	if b.free == nil {
		return // JSONL: its memory is its own
	}
	group := b.group
	b.free.Put(b)
	group.Done()
}
