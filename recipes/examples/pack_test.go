package examples

import (
	"errors"
	"slices"
	"testing"
)

func equal(got []int32, want ...int32) bool { return slices.Equal(got, want) }

func example(name string, first int32, n int, spans ...Span) Example {
	e := Example{Name: name, Trained: spans}
	for i := range n {
		e.IDs = append(e.IDs, first+int32(i))
	}
	return e
}

// First fit by hand: 5 and 3 fill the first of 8, 4 opens a second, 1 finds room
// in none but the second, 4 opens a third.
func TestPack(t *testing.T) {
	batches, err := Pack([]Example{
		example("a", 100, 5, Span{1, 2}, Span{4, 5}), example("b", 200, 4, Span{2, 4}), example("c", 300, 3, Span{1, 3}),
		example("d", 400, 5, Span{1, 2}), example("e", 500, 1+1, Span{1, 2}),
	}, 8)
	if err != nil || len(batches) != 3 {
		t.Fatalf("%d batches, %v", len(batches), err)
	}
	b := batches[0]
	if !equal(b.IDs, 100, 101, 102, 103, 104, 300, 301, 302) || !equal(b.Positions, 0, 1, 2, 3, 4, 0, 1, 2) || !equal(b.Starts, 0, 5, 8) {
		t.Errorf("%+v", b)
	}
	if !equal(b.Rows, 0, 3, 5, 6) || !equal(b.Targets, 101, 104, 301, 302) {
		t.Errorf("rows %v, targets %v", b.Rows, b.Targets)
	}
	if b := batches[1]; !equal(b.Starts, 0, 4, 6) || !equal(b.IDs, 200, 201, 202, 203, 500, 501) || !equal(b.Rows, 1, 2, 4) {
		t.Errorf("%+v", b)
	}
	if b := batches[2]; !equal(b.Starts, 0, 5) {
		t.Errorf("%+v", b)
	}
	if _, err := Pack([]Example{example("f", 0, 9, Span{1, 2})}, 8); err == nil || err.Error() != "f: 9 tokens do not fit a micro-batch of 8" {
		t.Errorf("%v", err)
	}
}

// The order is numpy's: default_rng(42).permutation(10) and default_rng(43)'s.
func TestScheduleIsNumpys(t *testing.T) {
	s := Schedule{Examples: 10, BatchSize: 3, Seed: 42, Shuffle: true}
	if s.StepsPerEpoch() != 3 {
		t.Fatalf("%d steps", s.StepsPerEpoch())
	}
	for step, want := range [][]int{{5, 6, 0}, {7, 3, 2}, {4, 9, 1}, {2, 8, 9}, {5, 7, 1}, {4, 6, 0}} {
		if got := s.Batch(step); !slices.Equal(got, want) {
			t.Errorf("step %d: %v, want %v", step, got, want)
		}
	}
	s.Shuffle = false
	if got := s.Batch(4); !slices.Equal(got, []int{3, 4, 5}) {
		t.Errorf("in order: %v", got)
	}
}

// Case 58: what a run trains from any step on is what an undisturbed one does
// there, each epoch takes every example at most once, and epochs differ.
func TestScheduleCoversEpochs(t *testing.T) {
	s := Schedule{Examples: 11, BatchSize: 2, Seed: 7, Shuffle: true}
	var epochs [][]int
	for epoch := range 3 {
		var all []int
		for i := range s.StepsPerEpoch() {
			all = append(all, s.Batch(epoch*s.StepsPerEpoch()+i)...)
		}
		seen := map[int]bool{}
		for _, e := range all {
			if e < 0 || e >= s.Examples || seen[e] {
				t.Fatalf("epoch %d: %v", epoch, all)
			}
			seen[e] = true
		}
		epochs = append(epochs, all)
	}
	if slices.Equal(epochs[0], epochs[1]) || slices.Equal(epochs[1], epochs[2]) {
		t.Errorf("epochs are alike: %v", epochs)
	}
	if err := (Schedule{Examples: 3, BatchSize: 4}).Validate(); !errors.Is(err, ErrTooFew) {
		t.Errorf("%v", err)
	}
	if err := (Schedule{Examples: 3}).Validate(); err == nil {
		t.Error("a batch of none is no error")
	}
}
