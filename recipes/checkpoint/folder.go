// Package checkpoint keeps the checkpoints of a training run in its folder:
//
//	global_step_N/                       a model in Hugging Face layout with the
//	                                     state to go on from; whole or not there
//	latest_checkpointed_iteration.txt    N of the newest, as verl has it
//	best_checkpointed_iteration.txt      N of the best by validation
//	run.lock                             held by the process that works here
//
// A process may be killed at any moment: what it leaves is the last checkpoint,
// whole, and rests with a dot before their names, which the next one removes.
package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/coderl/cr/internal/atomicfile"
)

const (
	latestFile = "latest_checkpointed_iteration.txt"
	bestFile   = "best_checkpointed_iteration.txt"
	lockFile   = "run.lock"
	stepPrefix = "global_step_"
	restPrefix = ".rest-" // of folders that are being made or removed
)

// ErrLocked: another process works in the folder.
var ErrLocked = errors.New("another process is training in this folder")

// Folder is a run's folder, held by this process until it is closed.
type Folder struct {
	path string
	lock *os.File
}

// Open creates the folder where absent, takes its lock, and clears away what a
// killed process left half made. The error wraps [ErrLocked] where another
// process holds the lock; the system drops a lock with its process, however that
// ends, so there is no stale one.
func Open(path string) (*Folder, error) {
	if _, err := writable(path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, notFolder(path, err)
	}
	lock, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, notFolder(path, err)
	}
	f := &Folder{path: path, lock: lock}
	if err := f.take(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if err := f.clear(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return f, nil
}

// take locks the folder and writes down who holds it.
func (f *Folder) take() error {
	if err := held(f.lock, unix.LOCK_EX); err != nil {
		return err
	}
	if err := f.lock.Truncate(0); err != nil {
		return fmt.Errorf("lock %s: %w", f.lock.Name(), err)
	}
	_, err := f.lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// held locks a lock file, or says who holds it.
func held(lock *os.File, how int) error {
	err := unix.Flock(int(lock.Fd()), how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		holder, _ := os.ReadFile(lock.Name()) // the words are a help, no more
		return fmt.Errorf("%s: %w (process %s): wait for it, stop it, or choose another folder", filepath.Dir(lock.Name()), ErrLocked, strings.TrimSpace(string(holder)))
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	return nil
}

// clear removes what is half made or half removed: folders, and files that were
// to take another's place.
func (f *Folder) clear() error {
	for _, pattern := range []string{restPrefix + "*", ".*.tmp"} {
		rests, err := filepath.Glob(filepath.Join(escaped(f.path), pattern))
		if err != nil {
			return err
		}
		for _, rest := range rests {
			if err := os.RemoveAll(rest); err != nil {
				return fmt.Errorf("clear away what is half made: %w", err)
			}
		}
	}
	return nil
}

// escaped is a path whose characters mean themselves in a pattern.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Close gives the folder back.
func (f *Folder) Close() error { return f.lock.Close() }

// Path is the folder's path.
func (f *Folder) Path() string { return f.path }

// Step is the path of a step's checkpoint, there or not.
func (f *Folder) Step(n int) string { return Step(f.path, n) }

// Step is the path of a step's checkpoint in a run's folder, there or not.
func Step(path string, n int) string { return filepath.Join(path, stepPrefix+strconv.Itoa(n)) }

// Latest returns the step of the newest checkpoint, 0 where there is none.
func (f *Folder) Latest() (int, error) {
	n, err := f.readStep(latestFile)
	if err != nil || n == 0 {
		return n, err
	}
	if _, err := os.Stat(f.Step(n)); err != nil {
		return 0, fmt.Errorf("%s is %w: write the step of a checkpoint that is there into it instead of %d", filepath.Join(f.path, latestFile), ErrDamaged, n)
	}
	return n, nil
}

// Best returns the step of the best checkpoint, 0 where none is marked.
func (f *Folder) Best() (int, error) { return f.readStep(bestFile) }

func (f *Folder) readStep(name string) (int, error) {
	text, err := os.ReadFile(filepath.Join(f.path, name))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s is %w: write the step of a checkpoint into it instead of %.20q", filepath.Join(f.path, name), ErrDamaged, text)
	}
	return n, nil
}

func (f *Folder) writeStep(name string, n int) error {
	return atomicfile.WriteBytes(filepath.Join(f.path, name), []byte(strconv.Itoa(n)))
}
