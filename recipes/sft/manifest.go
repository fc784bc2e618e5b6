package sft

import (
	"fmt"

	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/recipes/preset"
)

// Check finds, without computing or changing anything, what would keep [Run] from
// working in its folder, and what it would find there.
func Check(c Config) (checkpoint.Standing, error) {
	p, err := NewPlan(c.Recipe, c.Train, c.Validation, c.Steps)
	if err != nil {
		return checkpoint.Standing{}, err
	}
	return checkpoint.Inspect(c.Recipe.Train.Out, c.Resume, c.same(p), new(state))
}

// identify tells data sets apart by token ids and loss masks.
func identify(all []examples.Example) checkpoint.DataID {
	return checkpoint.DataID{Examples: len(all), SHA256: fingerprint(all)}
}

// settle makes the folder that of the run. It returns the steps of the schedule,
// which a resumed run keeps.
func settle(folder *checkpoint.Folder, c Config, p Plan) (schedule int, err error) {
	recipe, err := preset.YAML(c.Recipe)
	if err != nil {
		return 0, err
	}
	begun, err := folder.Settle(c.manifest(p), recipe, c.Resume, c.same(p))
	if err != nil {
		return 0, err
	}
	return begun.Schedule, nil
}

// manifest is what a run begins with.
func (c Config) manifest(p Plan) checkpoint.Manifest {
	return checkpoint.Manifest{
		Version: c.Version, Schedule: p.Schedule, Threads: c.Threads,
		Train: identify(c.Train), Validation: identify(c.Validation), Base: c.Base,
	}
}

// same finds the first setting that keeps the run that a folder holds from being
// this one.
func (c Config) same(p Plan) func(old checkpoint.Manifest, path string) error {
	return func(old checkpoint.Manifest, path string) error {
		recipe, err := preset.LoadSFT(path, nil)
		if err != nil {
			return fmt.Errorf("%s is %w, begin anew in another folder: %w", path, checkpoint.ErrDamaged, err)
		}
		if changes := preset.Changes(recipe, c.Recipe); len(changes) > 0 {
			return fmt.Errorf("%s was %s, now %s", changes[0].Key, changes[0].Old, changes[0].New)
		}
		return old.SameEnd(c.manifest(p), p.Last, c.Recipe.Optim.Schedule == "constant")
	}
}
