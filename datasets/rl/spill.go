package rl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// spill is a file of rows that came too many for memory. It has no name: it is
// gone with the process, however that ends.
type spill struct {
	file *os.File
	mu   sync.Mutex
	end  int64
	// close frees the file, which takes the kernel a while, and may be called
	// again: all calls wait for the first and return what it did.
	close func() error
}

// place is where a row lies in a spill.
type place struct {
	offset int64
	size   int
}

func newSpill(dir string) (*spill, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(dir, ".cr-rows-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("make a file for rows: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("make a file for rows: %w", err), file.Close())
	}
	return &spill{file: file, close: sync.OnceValue(file.Close)}, nil
}

// append writes a piece and returns where it lies. Several goroutines may.
func (s *spill) append(b []byte) (int64, error) {
	// The kernel locks a file that is written to, and spins meanwhile.
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.end
	s.end += int64(len(b))
	if _, err := s.file.WriteAt(b, at); err != nil {
		return 0, fmt.Errorf("keep rows in %s: %w", filepath.Dir(s.file.Name()), err)
	}
	return at, nil
}

// read fills buf, grown as needed, with the row at p.
func (s *spill) read(p place, buf []byte) ([]byte, error) {
	if cap(buf) < p.size {
		buf = make([]byte, p.size, p.size+p.size/4)
	}
	buf = buf[:p.size]
	if _, err := s.file.ReadAt(buf, p.offset); err != nil {
		return nil, fmt.Errorf("read rows back: %w", err)
	}
	return buf, nil
}

// appendRecord encodes a record: each text after its length plus one, null as 0.
func appendRecord(b []byte, r record) []byte {
	b = appendText(b, r.prompt)
	b = appendText(b, &r.solution)
	b = binary.AppendUvarint(b, uint64(len(r.groundTruth))+1)
	b = append(b, r.groundTruth...)
	return appendText(b, r.source)
}

func appendText(b []byte, text *string) []byte {
	if text == nil {
		return binary.AppendUvarint(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(*text))+1)
	return append(b, *text...)
}

// cells are a record's texts as they lie in a spill's row; null is nil.
type cells struct {
	prompt, solution, groundTruth, source []byte
}

// cutCells undoes appendRecord without copying.
func cutCells(row []byte) (c cells) {
	c.prompt, row = cutText(row)
	c.solution, row = cutText(row)
	c.groundTruth, row = cutText(row)
	c.source, _ = cutText(row)
	return c
}

func cutText(row []byte) (text, rest []byte) {
	size, n := binary.Uvarint(row)
	row = row[n:]
	if size == 0 {
		return nil, row
	}
	return row[: size-1 : size-1], row[size-1:]
}
