package examples

import (
	"fmt"

	"github.com/coderl/cr/runtime/train"
)

// Pack puts examples into micro-batches of at most limit tokens: each into the
// first that has room for it, in their order. Attention and positions begin
// anew with each example, so that none sees another. An example of more than
// limit tokens is an error.
func Pack(examples []Example, limit int) ([]train.Batch, error) {
	bins, err := Bins(examples, limit)
	if err != nil {
		return nil, err
	}
	batches := make([]train.Batch, len(bins))
	for i, bin := range bins {
		members := make([]*Example, len(bin))
		for j, at := range bin {
			members[j] = &examples[at]
		}
		batches[i] = batch(members)
	}
	return batches, nil
}

// Bins tells which examples [Pack] puts into each micro-batch, in the order in
// which their rows stand there.
func Bins(examples []Example, limit int) ([][]int, error) {
	var bins [][]int
	var room []int
	for i := range examples {
		e := &examples[i]
		if len(e.IDs) > limit {
			return nil, fmt.Errorf("%s: %d tokens do not fit a micro-batch of %d", e.Name, len(e.IDs), limit)
		}
		at := 0
		for at < len(bins) && room[at] < len(e.IDs) {
			at++
		}
		if at == len(bins) {
			bins, room = append(bins, nil), append(room, limit)
		}
		bins[at] = append(bins[at], i)
		room[at] -= len(e.IDs)
	}
	return bins, nil
}

// batch lays examples side by side. A row is trained if its next token is.
func batch(members []*Example) train.Batch {
	b := train.Batch{Starts: []int32{0}}
	for _, e := range members {
		start := int32(len(b.IDs))
		b.IDs = append(b.IDs, e.IDs...)
		for i := range e.IDs {
			b.Positions = append(b.Positions, int32(i))
		}
		b.Starts = append(b.Starts, int32(len(b.IDs)))
		for _, s := range e.Trained {
			for i := s.From; i < s.To; i++ {
				b.Rows = append(b.Rows, start+int32(i)-1)
				b.Targets = append(b.Targets, e.IDs[i])
			}
		}
	}
	return b
}
