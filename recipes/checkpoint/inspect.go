package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Standing is what a run would find in its folder.
type Standing struct {
	Begun  *Manifest // of the run to go on with; nil: a new one
	Latest int       // its newest checkpoint; 0: none
	Free   int64     // bytes that may still be written there
}

// Inspect finds, without changing anything, what would keep a run from working
// in a folder: see [Open] and [Folder.Settle] for the errors and the arguments. The
// state of the newest checkpoint is read into state.
func Inspect(path string, resume bool, same func(old Manifest, recipe string) error, state any) (Standing, error) {
	var s Standing
	place, err := writable(path)
	if err != nil {
		return s, err
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(place, &disk); err != nil {
		return s, fmt.Errorf("the disk of %s: %w", path, err)
	}
	s.Free = int64(disk.Bavail) * int64(disk.Bsize) //nolint:unconvert // their types differ from system to system
	if place != filepath.Clean(path) {
		return s, nil // it is yet to be made
	}
	if err := unlocked(path); err != nil {
		return s, err
	}
	f := &Folder{path: path}
	if s.Begun, err = f.begun(resume, same); err == nil && s.Begun != nil {
		s.Latest, err = f.Latest()
	}
	if err == nil && s.Latest > 0 {
		err = ReadState(f.Step(s.Latest), state)
	}
	return s, err
}

// writable finds the folder in which a run folder is, or would be made, and
// whether that can be done.
func writable(path string) (string, error) {
	for place := filepath.Clean(path); ; place = filepath.Dir(place) {
		info, err := os.Stat(place)
		switch {
		case errors.Is(err, fs.ErrNotExist) && place != filepath.Dir(place):
			continue
		case err != nil:
			return "", notFolder(path, err)
		case !info.IsDir():
			return "", notFolder(path, fmt.Errorf("%s is no folder", place))
		}
		if err := unix.Access(place, unix.W_OK); err != nil {
			return "", notFolder(path, fmt.Errorf("%s: %w", place, err))
		}
		return place, nil
	}
}

// ErrNoFolder: the path cannot be a run's folder.
var ErrNoFolder = errors.New("cannot be the run folder")

func notFolder(path string, err error) error {
	return fmt.Errorf("%s %w: %w: choose a folder that can be written to", path, ErrNoFolder, err)
}

// unlocked tells whether no process trains in the folder.
func unlocked(path string) error {
	lock, err := os.Open(filepath.Join(path, lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return notFolder(path, err)
	}
	err = held(lock, unix.LOCK_SH)
	return errors.Join(err, lock.Close())
}
