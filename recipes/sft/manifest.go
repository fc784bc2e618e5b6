package sft

import (
	"fmt"

	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/recipes/preset"
)

// identify tells data sets apart by token ids and loss masks.
func identify(all []examples.Example) checkpoint.DataID {
	return checkpoint.DataID{Examples: len(all), SHA256: fingerprint(all)}
}

// settle makes the folder that of the run. It returns the steps of the schedule,
// which a resumed run keeps.
func settle(folder *checkpoint.Folder, c Config, p Plan) (schedule int, err error) {
	now := checkpoint.Manifest{
		Version: c.Version, Schedule: p.Schedule, Threads: c.Threads,
		Train: identify(c.Train), Validation: identify(c.Validation), Base: c.Base,
	}
	recipe, err := preset.YAML(c.Recipe)
	if err != nil {
		return 0, err
	}
	begun, err := folder.Settle(now, recipe, c.Resume, func(old checkpoint.Manifest, path string) error {
		return sameRun(c, old, now, path, p.Last)
	})
	if err != nil {
		return 0, err
	}
	return begun.Schedule, nil
}

// sameRun names the first setting that keeps a run from going on to the same end.
func sameRun(c Config, old, now checkpoint.Manifest, path string, last int) error {
	recipe, err := preset.LoadSFT(path, nil)
	if err != nil {
		return fmt.Errorf("%s is %w, begin anew in another folder: %w", path, checkpoint.ErrDamaged, err)
	}
	if changes := preset.Changes(recipe, c.Recipe); len(changes) > 0 {
		return fmt.Errorf("%s was %s, now %s", changes[0].Key, changes[0].Old, changes[0].New)
	}
	return old.SameEnd(now, last, c.Recipe.Optim.Schedule == "constant")
}
