package source

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
	fields  []Field // parquet: row by row
	lines   []line  // JSONL: rows still to be parsed
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
