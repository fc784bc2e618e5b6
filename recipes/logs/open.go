package logs

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
)

// stream is an open log, unpacked where it is packed.
type stream struct {
	io.Reader
	file *os.File
	info os.FileInfo
	// once: it is read from its beginning to its end and cannot be gone on with,
	// as a packed file or a pipe.
	once   bool
	packed bool
}

// open opens a log; gzip is known by its first bytes, not by the name.
func open(path string) (*stream, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("logs: %w", err)
	}
	s, err := streamOf(file)
	if err != nil {
		_ = file.Close() // the first error is the one to tell
		return nil, fmt.Errorf("logs: %s: %w", path, err)
	}
	return s, nil
}

func streamOf(file *os.File) (*stream, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	s := &stream{Reader: file, file: file, info: info, once: !info.Mode().IsRegular()}
	magic := []byte{0x1f, 0x8b}
	head := make([]byte, len(magic))
	if s.once {
		buffered := bufio.NewReader(file)
		s.Reader = buffered
		head, _ = buffered.Peek(len(magic)) // what cannot be read is told when it is read
	} else if n, _ := file.ReadAt(head, 0); n < len(head) {
		head = nil
	}
	if bytes.Equal(head, magic) {
		s.Reader, s.once, s.packed = &unpacker{packed: bufio.NewReader(s.Reader)}, true, true
	}
	return s, nil
}

// Close closes the file.
func (s *stream) Close() error { return s.file.Close() }

// unpacker reads gzip; the header, too, when it is asked for, so that a damaged
// one is told like other damage.
type unpacker struct {
	packed *bufio.Reader
	gzip   *gzip.Reader
}

// Read reads unpacked bytes.
func (u *unpacker) Read(p []byte) (int, error) {
	if u.gzip == nil {
		var err error
		if u.gzip, err = gzip.NewReader(u.packed); err != nil {
			u.gzip = nil
			return 0, err
		}
	}
	return u.gzip.Read(p)
}
