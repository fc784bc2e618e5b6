package checkpoint

import (
	"errors"
	"fmt"
)

// Saver writes a model and what a resumed run needs of it into a folder.
type Saver interface {
	Save(dir string) error
}

// Commit makes step n's checkpoint of a model and its run's state, marks it where
// it is the best so far, and removes those beyond keep (see [Folder.Keep]).
func (f *Folder) Commit(n int, model Saver, state any, best bool, keep int) error {
	err := f.Save(n, func(dir string) error {
		return errors.Join(model.Save(dir), WriteState(dir, state))
	})
	if err != nil {
		return err
	}
	if best {
		if err := f.MarkBest(n); err != nil {
			return err
		}
	}
	return f.Keep(keep)
}

// TakenUp ends the taking up of step n's checkpoint, whose state says that it is
// of step held and that the best is marked (0: none).
func (f *Folder) TakenUp(n, held, marked int) error {
	if held != n {
		return fmt.Errorf("resume: %s holds step %d", f.Step(n), held)
	}
	if marked > 0 {
		// A kill may have come between the checkpoint and its mark.
		return f.MarkBest(marked)
	}
	return nil
}

// Interrupted is [ErrInterrupted] with what the run has saved, of last steps.
func (f *Folder) Interrupted(saved, last int) error {
	if saved == 0 {
		return fmt.Errorf("%w before the first step was done; resuming the run begins it anew", ErrInterrupted)
	}
	return fmt.Errorf("%w after step %d of %d, saved in %s; resume the run to go on", ErrInterrupted, saved, last, f.Step(saved))
}
