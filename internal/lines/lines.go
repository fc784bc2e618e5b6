// Package lines reads text line by line under a hard limit.
package lines

import (
	"bufio"
	"errors"
	"fmt"
)

// Read returns the next line with its newline, and io.EOF beside the last one.
// A line of more than limit bytes is an error, whatever follows it. The bytes
// are the caller's.
func Read(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); len(line) > limit {
			return nil, fmt.Errorf("longer than %d MB", limit>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
