package checkpoint

import (
	"fmt"

	"github.com/coderl/cr/recipes/preset"
)

// Same returns what finds the first setting that keeps the run in a folder from
// being the one that is asked for, with that recipe and beginning, up to step last;
// load reads a kept recipe of its kind. constant: the learning rate is, so that the
// run may also become longer. See [Folder.Settle].
func Same[R any](load func(path string, settings []string) (R, error), recipe R, now Manifest, last int, constant bool) func(old Manifest, path string) error {
	return func(old Manifest, path string) error {
		kept, err := load(path, nil)
		if err != nil {
			return fmt.Errorf("%s is %w, begin anew in another folder: %w", path, ErrDamaged, err)
		}
		if changes := preset.Changes(kept, recipe); len(changes) > 0 {
			return fmt.Errorf("%s was %s, now %s", changes[0].Key, changes[0].Old, changes[0].New)
		}
		return old.SameEnd(now, last, constant)
	}
}
