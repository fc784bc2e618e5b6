package main

import (
	"strings"
	"testing"

	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/train"
)

// A disk with room for one checkpoint will do; one with less is refused, and one
// that nobody could look at is not.
func TestDiskHoldsACheckpoint(t *testing.T) {
	for free, refused := range map[int64]bool{0: false, 900_000_000: true, 1_000_000_000: false} {
		s := standing{DiskFree: free}
		s.expect(10, 3, 2, 1_000_000_000)
		err := s.fitsDisk()
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "about 1.00 GB") {
			t.Errorf("%d bytes free: %v", free, err)
		}
		if s.Checkpoints != 2 {
			t.Errorf("%d checkpoints stay", s.Checkpoints)
		}
	}
	var s standing
	for _, c := range []struct{ last, every, keep, want int }{{10, 0, 0, 1}, {10, 3, 0, 4}, {9, 3, 0, 3}, {10, 3, 9, 4}} {
		if s.expect(c.last, c.every, c.keep, 1); s.Checkpoints != c.want {
			t.Errorf("%+v: %d", c, s.Checkpoints)
		}
	}
}

// A checkpoint is the model as it is saved, and three numbers in f32 for each
// that is trained.
func TestCheckpointBytes(t *testing.T) {
	config := model.Config{Arch: model.Qwen3, Hidden: 8, Layers: 1, Heads: 2, KVHeads: 1, HeadDim: 4, FFN: 16, Vocab: 32, Context: 64, TieEmbeddings: true}
	whole, err := train.PlanMemory(config, train.Options{}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	n := whole.Parameters
	few := train.Memory{Parameters: 5}
	for _, c := range []struct {
		stored int64
		saved  string
		want   int64
	}{
		{0, "model", 4*n + 60},
		{4 * n, "model", 4*n + 60},
		{2 * n, "model", 2*n + 60},
		{n / 2, "model", 2*n + 60},
		{2 * n, "f32", 4*n + 60},
		{4 * n, "bf16", 2*n + 60},
	} {
		if got, err := checkpointBytes(config, c.stored, c.saved, few); err != nil || got != c.want {
			t.Errorf("%+v: %d, %v", c, got, err)
		}
	}
}
