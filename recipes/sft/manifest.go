package sft

import (
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
	return checkpoint.Inspect(c.Recipe.Train.Out, c.Resume, c.same(c.manifest(p), p), new(state))
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
	now := c.manifest(p)
	begun, err := folder.Settle(now, recipe, c.Resume, c.same(now, p))
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

// same finds what keeps the run that a folder holds from being this one.
func (c Config) same(now checkpoint.Manifest, p Plan) func(old checkpoint.Manifest, path string) error {
	return checkpoint.Same(preset.LoadSFT, c.Recipe, now, p.Last, c.Recipe.Optim.Schedule == "constant")
}
