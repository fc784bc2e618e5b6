package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/parquet-go/parquet-go"
)

// batchBytes is about how much text a batch holds; a longer row is a batch of
// its own.
const batchBytes = 2 << 20

// Set is an opened source: chunks to be read one by one, several at a time if
// need be. A chunk is a row group of a parquet file, or a whole JSONL file.
type Set struct {
	Files  []string
	chunks []chunk
	opened []*os.File
	// Memory that is used again: of each column, *pageReader, as columns differ in
	// what they need; and *Batch.
	readers []sync.Pool
	batches sync.Pool
}

type chunk struct {
	file    string
	columns []string
	group   parquet.RowGroup // nil: JSONL
	parsed  *parquet.File    // that has group
	number  int              // of group in it
	fields  []leaf           // of group, in the order of columns
}

// Open opens files that have these columns, which must hold text.
func Open(files, columns []string) (_ *Set, err error) {
	s := &Set{Files: files, readers: make([]sync.Pool, len(columns))}
	defer func() {
		if err != nil {
			// The first failure is the one to report.
			_ = s.Close()
		}
	}()
	for _, name := range files {
		if isLines(name) {
			s.chunks = append(s.chunks, chunk{file: name, columns: columns})
		} else if err = s.openParquet(name, columns); err != nil {
			return nil, &Error{name, err}
		}
	}
	return s, nil
}

func (s *Set) openParquet(name string, columns []string) error {
	file, parsed, err := OpenParquet(name)
	if err != nil {
		return err
	}
	s.opened = append(s.opened, file)
	fields, err := textColumns(parsed.Schema(), columns)
	if err != nil {
		return err
	}
	for i, group := range parsed.RowGroups() {
		s.chunks = append(s.chunks, chunk{file: name, columns: columns, group: group, parsed: parsed, number: i, fields: fields})
	}
	return nil
}

// Chunks is the number of chunks.
func (s *Set) Chunks() int { return len(s.chunks) }

// Read gives a chunk's rows to use, batch by batch, each of which use has to have
// released, also when it fails: Read returns once all are.
func (s *Set) Read(ctx context.Context, index int, use func(*Batch) error) error {
	c := s.chunks[index]
	emit := func(b *Batch) error {
		b.Chunk, b.name, b.columns, b.wanted = index, c.file, len(c.columns), c.columns
		return use(b)
	}
	if c.group == nil {
		return readLines(ctx, c.file, emit)
	}
	return s.readGroup(ctx, c, emit)
}

// Close closes the files.
func (s *Set) Close() error {
	var errs []error
	for _, f := range s.opened {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// Error is a file that could not be read: its fault, or its disk's.
type Error struct {
	File string
	Err  error
}

func (e *Error) Error() string { return e.File + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Guard turns a panic of the parquet library on a damaged file into an error.
func Guard(read func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			buf := make([]byte, 4<<10)
			err = &DamagedError{Cause: fmt.Sprint(r), Stack: string(buf[:runtime.Stack(buf, false)])}
		}
	}()
	return read()
}

// DamagedError is a parquet file that the library could not make sense of.
type DamagedError struct {
	Cause string
	Stack string // for a log
}

func (e *DamagedError) Error() string { return "damaged parquet file: " + e.Cause }
