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
	fields  []Field // parquet: row by row, sharing the memory of text
	text    []byte
	ends    []int      // of each field in text; below zero: null
	free    *sync.Pool // where the batch goes once it is released
	lines   []line     // JSONL: rows still to be parsed
	wanted  []string
}

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
		b = &Batch{text: make([]byte, 0, batchBytes+batchBytes/4)}
	}
	b.free, b.Index, b.First = &s.batches, index, first
	b.fields, b.text, b.ends = b.fields[:0], b.text[:0], b.ends[:0]
	return b
}

// fill takes rows from done on until the batch is full, and returns how many
// are done then.
func (b *Batch) fill(columns []textColumn, done, rows int) (int, error) {
	for ; done < rows && len(b.text) < batchBytes && len(b.ends) < maxCells; done++ {
		for i, column := range columns {
			text, ok, err := column.next()
			if err != nil {
				return done, fmt.Errorf("row %d of a row group, text column %d: %w", done, i+1, err)
			}
			if !ok {
				b.ends = append(b.ends, -1)
				continue
			}
			b.text = append(b.text, text...)
			b.ends = append(b.ends, len(b.text))
		}
	}
	b.cut()
	return done, nil
}

// cut makes fields of the text once it no longer grows. They are not copied: a
// build reads no byte more often than it must.
func (b *Batch) cut() {
	start := 0
	for _, end := range b.ends {
		field := Field{}
		if end >= 0 {
			field.Kind = Text
			field.Text = unsafe.String(unsafe.SliceData(b.text[start:end]), end-start)
			start = end
		}
		b.fields = append(b.fields, field)
	}
}

// Release ends the use of a batch and of its fields' texts, whose memory takes
// another batch's.
func (b *Batch) Release() {
	if b.free != nil {
		b.free.Put(b)
	}
}
