package examples

import (
	"errors"
	"fmt"

	"github.com/coderl/cr/datasets/split"
)

// Schedule is the order in which examples are trained. Nothing of it depends on
// what came before: the batch of any step is known from the step alone, so that
// a run that goes on at step N trains what an undisturbed one does.
type Schedule struct {
	Examples  int
	BatchSize int // examples of a step; those of an epoch's incomplete last batch are left out, as verl drops them
	Seed      uint64
	Shuffle   bool // anew for each epoch
}

// ErrTooFew means that the examples do not fill a batch.
var ErrTooFew = errors.New("fewer examples than a batch")

// Validate checks that there is a batch at all.
func (s Schedule) Validate() error {
	switch {
	case s.BatchSize < 1:
		return fmt.Errorf("a batch of %d examples", s.BatchSize)
	case s.Examples < s.BatchSize:
		return fmt.Errorf("%d examples, %d a batch: %w", s.Examples, s.BatchSize, ErrTooFew)
	}
	return nil
}

// StepsPerEpoch is the number of whole batches.
func (s Schedule) StepsPerEpoch() int { return s.Examples / s.BatchSize }

// Batch lists the examples of a step, counted from 0 over all epochs. The order
// of epoch e is numpy's default_rng(seed+e).permutation.
func (s Schedule) Batch(step int) []int {
	epoch, at := step/s.StepsPerEpoch(), step%s.StepsPerEpoch()
	batch := make([]int, s.BatchSize)
	for i := range batch {
		batch[i] = at*s.BatchSize + i
	}
	if !s.Shuffle {
		return batch
	}
	order := split.Permutation(s.Seed+uint64(epoch), s.Examples)
	for i, place := range batch {
		batch[i] = int(order[place])
	}
	return batch
}
