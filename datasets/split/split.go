package split

import (
	"errors"
	"fmt"
	"math"
)

// MaxRows bounds a permutation; numpy draws differently beyond it.
const MaxRows = math.MaxUint32

// ErrNothingToTrain means that every row would be a validation row.
var ErrNothingToTrain = errors.New("the split leaves no row to train on")

// Permutation is numpy.random.default_rng(seed).permutation(n). It panics on an
// n outside 0..MaxRows.
func Permutation(seed uint64, n int) []uint32 {
	if n < 0 || n > MaxRows {
		panic(fmt.Sprintf("split: a permutation of %d rows", n))
	}
	perm := make([]uint32, n)
	for i := range perm {
		perm[i] = uint32(i)
	}
	g := newPCG64(seed)
	for i := n - 1; i > 0; i-- {
		j := g.upTo(uint32(i))
		perm[i], perm[j] = perm[j], perm[i]
	}
	return perm
}

// TrainTest is datasets' train_test_split(test_size=fraction, seed=seed) over n
// rows, 0 < fraction < 1: the row numbers of both parts, in the order the parts
// have them. Without rows both parts are empty; a train part that would be empty
// otherwise is [ErrNothingToTrain].
func TrainTest(seed uint64, n int, fraction float64) (train, test []uint32, err error) {
	if n == 0 {
		return nil, nil, nil
	}
	tests := int(math.Ceil(fraction * float64(n)))
	if tests >= n {
		return nil, nil, fmt.Errorf("%d rows, %v of them for validation: %w", n, fraction, ErrNothingToTrain)
	}
	perm := Permutation(seed, n)
	return perm[tests:], perm[:tests], nil
}
