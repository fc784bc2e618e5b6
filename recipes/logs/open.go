package logs

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
)

// stream is an open log, unpacked where it is packed.
type stream struct {
	io.Reader
	file   *os.File
	packed bool
}

// open opens a log; gzip is known by its first bytes, not by the name.
func open(path string) (*stream, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("logs: %w", err)
	}
	head := make([]byte, 2)
	if n, _ := file.ReadAt(head, 0); n < 2 || head[0] != 0x1f || head[1] != 0x8b {
		return &stream{Reader: file, file: file}, nil
	}
	unpacked, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		_ = file.Close() // the first error is the one to tell
		return nil, fmt.Errorf("logs: %s: %w", path, err)
	}
	return &stream{Reader: unpacked, file: file, packed: true}, nil
}

// Close closes the file.
func (s *stream) Close() error { return s.file.Close() }
