package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckTargets refuses results that would take the place of a file that is read,
// of another result, or of something that is no file: before any work is done.
func CheckTargets(sources []string, targets ...string) error {
	taken := map[string]bool{}
	for _, target := range targets {
		path, err := filepath.Abs(target)
		if err != nil {
			return &Error{target, err}
		}
		if taken[path] {
			return &Error{target, errors.New("two results in one file: choose another name for one")}
		}
		taken[path] = true
		info, err := os.Stat(target)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return &Error{target, err}
		case !info.Mode().IsRegular():
			return &Error{target, errors.New("not a regular file: choose another place for the result")}
		}
		for _, name := range sources {
			if read, err := os.Stat(name); err == nil && os.SameFile(info, read) {
				return &Error{target, errors.New("the result would replace its own source: choose another place")}
			}
		}
	}
	return nil
}
