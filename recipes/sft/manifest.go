package sft

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/coderl/cr/internal/atomicfile"
	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/recipes/preset"
)

// The files of a run folder that say what run it is.
const (
	RecipeFile = "recipe.yaml" // the recipe with all settings, itself a recipe file
	runFile    = "run.json"
)

// manifest is run.json: what a run was begun with, beside its recipe.
type manifest struct {
	Version    string `json:"version"` // of cr
	Schedule   int    `json:"schedule_steps"`
	Threads    int    `json:"threads"`
	Train      dataID `json:"train"`
	Validation dataID `json:"validation"`
}

// dataID tells data sets apart by what is trained of them.
type dataID struct {
	Examples int    `json:"examples"`
	SHA256   string `json:"sha256"` // of token ids and loss masks
}

func identify(all []examples.Example) dataID { return dataID{len(all), fingerprint(all)} }

// settle makes the folder that of the run: it writes down what a new run begins
// with, or checks that the run in the folder is the same. It returns the steps
// of the schedule, which a resumed run keeps.
func settle(folder *checkpoint.Folder, c Config, p Plan) (schedule int, err error) {
	now := manifest{c.Version, p.Schedule, c.Threads, identify(c.Train), identify(c.Validation)}
	text, err := os.ReadFile(filepath.Join(folder.Path(), runFile))
	if errors.Is(err, fs.ErrNotExist) {
		return p.Schedule, settleNew(folder, c, now)
	}
	if err != nil {
		return 0, fmt.Errorf("resume: %w", err)
	}
	if !c.Resume {
		return 0, fmt.Errorf("%s %w: resume it, or choose another folder", folder.Path(), ErrRunExists)
	}
	var old manifest
	if err := json.Unmarshal(text, &old); err != nil {
		return 0, fmt.Errorf("resume: %s: %w", filepath.Join(folder.Path(), runFile), err)
	}
	if err := sameRun(folder, c, old, now, p.Last); err != nil {
		return 0, fmt.Errorf("%s %w: %w", folder.Path(), ErrSettingsDiffer, err)
	}
	if old.Threads != c.Threads {
		c.note("%d threads instead of %d: the run goes on, but not to the same bits", c.Threads, old.Threads)
	}
	return old.Schedule, nil
}

func settleNew(folder *checkpoint.Folder, c Config, now manifest) error {
	steps, err := folder.Steps()
	if err != nil {
		return err
	}
	if len(steps) > 0 {
		return fmt.Errorf("%s %w, but %s is missing: choose another folder", folder.Path(), ErrRunExists, runFile)
	}
	recipe, err := preset.YAML(c.Recipe)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		return err
	}
	write := func(b []byte) func(io.Writer) error {
		return func(w io.Writer) error { _, err := w.Write(b); return err }
	}
	return atomicfile.WriteTogether(
		atomicfile.File{Path: filepath.Join(folder.Path(), RecipeFile), Fill: write(recipe)},
		atomicfile.File{Path: filepath.Join(folder.Path(), runFile), Fill: write(append(text, '\n'))},
	)
}

// sameRun names the first setting that keeps a run from going on to the same end.
func sameRun(folder *checkpoint.Folder, c Config, old, now manifest, last int) error {
	recipe, err := preset.LoadSFT(filepath.Join(folder.Path(), RecipeFile), nil)
	if err != nil {
		return err
	}
	if changes := preset.Changes(recipe, c.Recipe); len(changes) > 0 {
		return fmt.Errorf("%s was %s, now %s", changes[0].Key, changes[0].Old, changes[0].New)
	}
	for _, set := range []struct {
		key      string
		old, now dataID
	}{{"data.train", old.Train, now.Train}, {"data.validation", old.Validation, now.Validation}} {
		if set.old != set.now {
			return fmt.Errorf("%s gave %d other examples, now %d", set.key, set.old.Examples, set.now.Examples)
		}
	}
	if last > old.Schedule && c.Recipe.Optim.Schedule != "constant" {
		return fmt.Errorf("its learning rate ends at step %d, not %d; a new run can begin from its last checkpoint", old.Schedule, last)
	}
	return nil
}
