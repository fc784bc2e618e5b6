package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Save makes step n's checkpoint: fill writes its files into an empty folder,
// which gets its name only when all of it has reached the disk. A checkpoint of
// that step which is there already, from a process that was killed before it
// could name it the latest, is replaced.
func (f *Folder) Save(n int, fill func(dir string) error) error {
	half := filepath.Join(f.path, restPrefix+"save-"+strconv.Itoa(n))
	if err := os.Mkdir(half, 0o755); err != nil {
		return fmt.Errorf("save the checkpoint of step %d: %w", n, err)
	}
	err := fill(half)
	if err == nil {
		err = f.put(half, n)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("save the checkpoint of step %d: %w", n, err), os.RemoveAll(half))
	}
	return nil
}

// put gives a filled folder its name and tells of it.
func (f *Folder) put(half string, n int) error {
	if err := syncTree(half); err != nil {
		return err
	}
	if err := f.Remove(n); err != nil {
		return err
	}
	if err := os.Rename(half, f.Step(n)); err != nil {
		return err
	}
	if err := syncFile(f.path); err != nil {
		return err
	}
	return f.writeStep(latestFile, n)
}

// MarkBest names step n's checkpoint the best.
func (f *Folder) MarkBest(n int) error { return f.writeStep(bestFile, n) }

// Remove deletes step n's checkpoint, where there is one. It loses its name
// first: what is half deleted never looks like a checkpoint.
func (f *Folder) Remove(n int) error {
	rest := filepath.Join(f.path, restPrefix+"remove-"+strconv.Itoa(n))
	err := os.Rename(f.Step(n), rest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.RemoveAll(rest)
	}
	if err != nil {
		return fmt.Errorf("remove the checkpoint of step %d: %w", n, err)
	}
	return nil
}

// Steps lists the checkpoints that are there, ascending.
func (f *Folder) Steps() ([]int, error) { return Steps(f.path) }

// Steps lists the checkpoints in a run's folder, ascending, without holding the
// folder: a run may be at work in it.
func Steps(path string) ([]int, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var steps []int
	for _, entry := range entries {
		text, ok := strings.CutPrefix(entry.Name(), stepPrefix)
		if n, err := strconv.Atoi(text); ok && err == nil && n > 0 && strconv.Itoa(n) == text && entry.IsDir() {
			steps = append(steps, n)
		}
	}
	slices.Sort(steps)
	return steps, nil
}

// Keep removes all checkpoints but the newest ones, the latest and the best
// among them; newest 0 keeps all.
func (f *Folder) Keep(newest int) error {
	if newest == 0 {
		return nil
	}
	steps, err := f.Steps()
	if err != nil {
		return err
	}
	latest, err := f.Latest()
	if err != nil {
		return err
	}
	best, err := f.Best()
	if err != nil {
		return err
	}
	// Steps after the latest are what a killed process had not yet named.
	steps = slices.DeleteFunc(steps, func(n int) bool { return n > latest })
	for _, n := range steps[:max(0, len(steps)-newest)] {
		if n == best {
			continue
		}
		if err := f.Remove(n); err != nil {
			return err
		}
	}
	return nil
}

// syncTree has every file and folder below root survive a power cut.
func syncTree(root string) error {
	return filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return syncFile(path)
	})
}

func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
