package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// File is one of several files that belong together.
type File struct {
	Path string
	Fill func(io.Writer) error
}

// WriteTogether is [Write] for files that belong together: they are all filled
// and synced before the first is put in place, so that whatever fails before
// that, a full disk included, leaves every path as it was.
func WriteTogether(files ...File) (err error) {
	temps := make([]*os.File, 0, len(files))
	defer func() {
		if err != nil {
			for _, temp := range temps {
				// The first failure is the one to report; those in place already
				// have no temporary file any more.
				_ = temp.Close()
				_ = os.Remove(temp.Name())
			}
		}
	}()
	for _, file := range files {
		temp, err := createBeside(file.Path)
		if err != nil {
			return fmt.Errorf("write %s: %w", file.Path, err)
		}
		temps = append(temps, temp)
		if err := fillAndSync(temp, file.Fill); err != nil {
			return fmt.Errorf("write %s: %w", file.Path, err)
		}
	}
	var syncErr error
	for i, file := range files {
		if err := os.Rename(temps[i].Name(), file.Path); err != nil {
			return fmt.Errorf("write %s: %w", file.Path, err)
		}
		syncErr = errors.Join(syncErr, syncDir(filepath.Dir(file.Path)))
	}
	return syncErr
}
