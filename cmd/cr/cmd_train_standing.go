package main

import (
	"fmt"

	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/train"
)

// standing is what --dry-run of any training says about the run's folder.
type standing struct {
	Checkpoint  int64 `json:"checkpoint"` // bytes of one, about
	Checkpoints int   `json:"checkpoints"`
	DiskFree    int64 `json:"disk_free"`
	GoingOn     int   `json:"going_on_after_step"`
}

// found notes what the folder holds, once the weights of a checkpoint to go on
// from are seen to be whole; err is what was found to be wrong before that.
func (s *standing) found(out string, f checkpoint.Standing, err error) error {
	s.DiskFree, s.GoingOn = f.Free, f.Latest
	if err == nil && f.Latest > 0 {
		err = badInput(wholeCheckpoint(checkpoint.Step(out, f.Latest)))
	}
	return err
}

// expect sets what the run will put there: saveEvery and keep are its recipe's.
func (s *standing) expect(last, saveEvery, keep int, bytes int64) {
	s.Checkpoint, s.Checkpoints = bytes, 1
	if saveEvery > 0 {
		s.Checkpoints = max(1, (last+saveEvery-1)/saveEvery)
	}
	if keep > 0 {
		s.Checkpoints = min(s.Checkpoints, keep)
	}
}

// checkpointBytes is about what a checkpoint takes: the model, which lies in so
// many bytes now (0: in f32), and what is trained in f32 with its two moments.
func checkpointBytes(config model.Config, stored int64, saveDType string, m train.Memory) (int64, error) {
	whole, err := train.PlanMemory(config, train.Options{}, 0, 1)
	size := 4 * whole.Parameters
	switch {
	case saveDType == "bf16":
		size /= 2
	case saveDType == "model" && stored > 0:
		size = min(size, max(stored, size/2)) // no checkpoint is quantised
	}
	return size + 12*m.Parameters, err
}

// fitsDisk refuses a run whose disk does not hold a single checkpoint.
func (s *standing) fitsDisk() error {
	if s.DiskFree > 0 && s.DiskFree < s.Checkpoint {
		return fmt.Errorf("a checkpoint takes about %s, and the run folder's disk has %s: make room, or choose another folder (--out)", humanBytes(s.Checkpoint), humanBytes(s.DiskFree))
	}
	return nil
}

// describe is the lines about checkpoints and a run that is resumed.
func (s *standing) describe() string {
	text := ""
	if s.DiskFree > 0 { // else there is no folder to put them in, as an error says
		text = fmt.Sprintf("disk    checkpoints of about %s, of which up to %d and the best stay; %s are free\n", humanBytes(s.Checkpoint), s.Checkpoints, humanBytes(s.DiskFree))
	}
	if s.GoingOn > 0 {
		text += fmt.Sprintf("run     goes on after step %d\n", s.GoingOn)
	}
	return text
}
