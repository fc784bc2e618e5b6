//go:build !unix

package mapfile

import (
	"io"
	"os"
)

// Without mmap the file is read whole: the same bytes, not shared.
func mapBytes(file *os.File, size int) ([]byte, error) {
	data := make([]byte, size)
	_, err := io.ReadFull(file, data)
	return data, err
}

func unmapBytes([]byte) error { return nil }
