// Package atomicfile writes files that appear whole or not at all: a reader,
// or a run resumed after a crash, sees the old content or the new, never a part.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ErrNotFile means that a folder, a device or a pipe has the file's place.
var ErrNotFile = errors.New("not a regular file")

// bufferSize is the size of the write buffer put before the temporary file.
const bufferSize = 64 << 10

// Write replaces the file at path by what fill writes. The bytes go to a
// temporary file in the same directory, which is synced, renamed over path, and
// made durable by syncing the directory. When fill or any step fails, path is
// as it was and the temporary file is gone. A new file gets mode 0o644 less the
// umask; a replaced one keeps its permissions.
func Write(path string, fill func(io.Writer) error) error {
	if err := write(path, fill); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// WriteBytes is Write for content already in memory.
func WriteBytes(path string, content []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

func write(path string, fill func(io.Writer) error) (err error) {
	temp, err := createBeside(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			// The first failure is the one to report.
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	if err := fillAndSync(temp, fill); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	// The new content is in place from here on: a failure must not remove it.
	return syncDir(filepath.Dir(path))
}

func fillAndSync(temp *os.File, fill func(io.Writer) error) error {
	buffered := bufio.NewWriterSize(&eagerWriter{file: temp}, bufferSize)
	if err := fill(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	return temp.Close()
}

// createBeside opens a new hidden file in path's directory, so that the rename
// stays within one file system. The process id and a counter make the name
// unique without os.CreateTemp's private 0o600 mode, which rename would keep.
func createBeside(path string) (*os.File, error) {
	mode := os.FileMode(0o644)
	if replaced, err := os.Stat(path); err == nil {
		// A rename over a device would be the end of it.
		if !replaced.Mode().IsRegular() {
			return nil, ErrNotFile
		}
		mode = replaced.Mode().Perm()
	}
	dir, base := filepath.Split(path)
	for attempt := 0; ; attempt++ {
		name := filepath.Join(dir, fmt.Sprintf(".%s.%d-%d.tmp", base, os.Getpid(), attempt))
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, os.ErrExist) && attempt < 10000 {
			continue
		}
		return file, err
	}
}

// syncDir makes a rename in dir survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	syncErr := d.Sync()
	return errors.Join(syncErr, d.Close())
}
