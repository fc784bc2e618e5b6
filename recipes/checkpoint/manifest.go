package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/coderl/cr/internal/atomicfile"
)

// The files of a run folder that say what run it is.
const (
	RecipeFile = "recipe.yaml" // the recipe with all settings, itself a recipe file
	runFile    = "run.json"
)

// Errors of runs that callers branch on.
var (
	// ErrRunExists: the folder holds a run, and going on was not asked for.
	ErrRunExists = errors.New("holds a run already")
	// ErrSettingsDiffer: the run in the folder was begun with other settings.
	ErrSettingsDiffer = errors.New("was begun with other settings")
	// ErrDamaged: a file of the run folder is not what a run leaves there.
	ErrDamaged = errors.New("damaged")
	// ErrInterrupted: the context ended before the last step; what was done is saved.
	ErrInterrupted = errors.New("interrupted")
)

// Manifest is run.json: what a run was begun with, beside its recipe.
type Manifest struct {
	Version    string `json:"version"` // of cr
	Schedule   int    `json:"schedule_steps"`
	Threads    int    `json:"threads"`
	Train      DataID `json:"train"`
	Validation DataID `json:"validation"`
	// Base is the model that the run began from.
	Base Base `json:"base"`
}

// DataID tells data sets apart by what is trained of them.
type DataID struct {
	Examples int    `json:"examples"`
	SHA256   string `json:"sha256"`
}

// Settle makes the folder that of the run: it writes down what a new run begins
// with, its recipe in YAML included, and returns that; or it returns what the run
// in the folder was begun with, once same, which gets that and the path of its
// recipe, has found no setting that keeps it from going on to the same end. A run
// that died before its first checkpoint left nothing to go on with: a new one
// takes its place, whatever its settings.
func (f *Folder) Settle(now Manifest, recipe []byte, resume bool, same func(old Manifest, recipe string) error) (Manifest, error) {
	old, err := f.begun(resume, same)
	switch {
	case err != nil:
		return now, err
	case old == nil:
		return now, f.settleNew(now, recipe)
	}
	return *old, nil
}

// begun is what the run in the folder was begun with; nil where a new one may
// begin there.
func (f *Folder) begun(resume bool, same func(old Manifest, recipe string) error) (*Manifest, error) {
	path := filepath.Join(f.path, runFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, f.unclaimed()
	}
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	empty, err := f.empty()
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	if empty {
		return nil, nil
	}
	if !resume {
		return nil, fmt.Errorf("%s %w: resume it, or choose another folder", f.path, ErrRunExists)
	}
	var old Manifest
	if err := json.Unmarshal(text, &old); err != nil {
		return nil, fmt.Errorf("resume: %s is %w, begin anew in another folder: %w", path, ErrDamaged, err)
	}
	if err := same(old, filepath.Join(f.path, RecipeFile)); errors.Is(err, ErrDamaged) {
		return nil, fmt.Errorf("resume: %w", err)
	} else if err != nil {
		return nil, fmt.Errorf("%s %w: %w", f.path, ErrSettingsDiffer, err)
	}
	return &old, nil
}

// unclaimed refuses a folder with checkpoints that no run.json speaks for.
func (f *Folder) unclaimed() error {
	steps, err := f.Steps()
	if err == nil && len(steps) > 0 {
		err = fmt.Errorf("%s %w, but %s is missing: choose another folder", f.path, ErrRunExists, runFile)
	}
	return err
}

// empty tells whether no checkpoint is there, nor one is named.
func (f *Folder) empty() (bool, error) {
	named, err := f.readStep(latestFile)
	if err != nil || named > 0 {
		return false, err
	}
	steps, err := f.Steps()
	return len(steps) == 0, err
}

func (f *Folder) settleNew(now Manifest, recipe []byte) error {
	text, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		return err
	}
	write := func(b []byte) func(io.Writer) error {
		return func(w io.Writer) error { _, err := w.Write(b); return err }
	}
	return atomicfile.WriteTogether(
		atomicfile.File{Path: filepath.Join(f.path, RecipeFile), Fill: write(recipe)},
		atomicfile.File{Path: filepath.Join(f.path, runFile), Fill: write(append(text, '\n'))},
	)
}

// SameEnd names what of a run's model, data or length keeps it from going on to
// the same end: another content of the base, other examples, or steps up to last
// beyond a schedule whose rate is not constant.
func (m Manifest) SameEnd(now Manifest, last int, constant bool) error {
	if what := m.Base.Differs(now.Base); what != "" {
		return fmt.Errorf("the model %s has not the %s now that it began from", now.Base.Path, what)
	}
	for _, set := range []struct {
		key      string
		old, now DataID
	}{{"data.train", m.Train, now.Train}, {"data.validation", m.Validation, now.Validation}} {
		if set.old != set.now {
			return fmt.Errorf("%s gave %d other examples, now %d", set.key, set.old.Examples, set.now.Examples)
		}
	}
	if last > m.Schedule && !constant {
		return fmt.Errorf("its learning rate ends at step %d, not %d; a new run can begin from its last checkpoint", m.Schedule, last)
	}
	return nil
}
