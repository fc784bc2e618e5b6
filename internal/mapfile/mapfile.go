// Package mapfile maps whole files into memory for reading, so that weights are
// used straight from the page cache and shared between processes.
package mapfile

import (
	"errors"
	"fmt"
	"os"
)

// File is a read-only view of a file's bytes. Writing to Data faults. Data is
// invalid after Close, and touching a page faults if another process has
// shortened the file meanwhile.
type File struct {
	Data []byte
}

// ErrNotFile means a directory, a device or another thing without fixed bytes.
var ErrNotFile = errors.New("not a regular file")

// Open maps the file at path. An empty file gives empty Data; a directory or a
// device is an error.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	// The mapping outlives the descriptor, which was only read from.
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("map %s: %w", path, ErrNotFile)
	}
	if info.Size() != int64(int(info.Size())) {
		return nil, fmt.Errorf("map %s: %d bytes do not fit this machine's address space", path, info.Size())
	}
	if info.Size() == 0 {
		return &File{}, nil
	}
	data, err := mapBytes(file, int(info.Size()))
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	return &File{Data: data}, nil
}

// Release gives the pages that were read back to the system: Data stays valid,
// and is read from the file again when it is touched.
func (f *File) Release() error {
	if f.Data == nil {
		return nil
	}
	return releaseBytes(f.Data)
}

// Close unmaps the file. Closing twice is allowed.
func (f *File) Close() error {
	if f.Data == nil {
		return nil
	}
	data := f.Data
	f.Data = nil
	return unmapBytes(data)
}
