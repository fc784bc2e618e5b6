package atomicfile

import (
	"io"
	"os"
)

// Copy writes the bytes of one file under another name, whole or not at all.
func Copy(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	return Write(to, func(w io.Writer) error {
		_, err := io.Copy(w, source)
		return err
	})
}
