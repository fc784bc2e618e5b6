package train

import (
	"errors"
	"fmt"

	"github.com/coderl/cr/runtime/tensor"
)

// check refuses what no pass can run.
func (b Batch) check(context, vocab int) error {
	n := len(b.IDs)
	switch {
	case n == 0 || len(b.Rows) == 0:
		return errors.New("batch: no tokens, or none to predict")
	case len(b.Positions) != n:
		return fmt.Errorf("batch: %d positions for %d tokens", len(b.Positions), n)
	case len(b.Targets) != len(b.Rows):
		return fmt.Errorf("batch: %d targets for %d rows", len(b.Targets), len(b.Rows))
	case len(b.Starts) < 2 || b.Starts[0] != 0 || int(b.Starts[len(b.Starts)-1]) != n:
		return fmt.Errorf("batch: segments %v do not cover its %d tokens", b.Starts, n)
	}
	for i := range b.Starts[1:] {
		if b.Starts[i] >= b.Starts[i+1] {
			return fmt.Errorf("batch: segment %d is empty", i)
		}
	}
	for i, row := range b.Rows {
		if row < 0 || int(row) >= n || i > 0 && row <= b.Rows[i-1] {
			return fmt.Errorf("batch: row %d (entry %d) is outside its %d tokens or out of order", row, i, n)
		}
	}
	for i, p := range b.Positions {
		if p < 0 || int(p) >= context {
			return fmt.Errorf("batch: position %d of token %d is outside the model's context of %d", p, i, context)
		}
	}
	return errors.Join(tensor.CheckIndices("batch token", b.IDs, vocab), tensor.CheckIndices("batch target", b.Targets, vocab))
}

// indices are a batch's integers on the device.
type indices struct {
	ids, positions, rows, targets tensor.Tensor // I32
}

// upload puts a batch on the device.
func (t *Trainer) upload(b Batch) (indices, error) {
	var on indices
	for _, list := range []struct {
		to   *tensor.Tensor
		from []int32
	}{{&on.ids, b.IDs}, {&on.positions, b.Positions}, {&on.rows, b.Rows}, {&on.targets, b.Targets}} {
		var err error
		if *list.to, err = t.dev.New(tensor.I32, len(list.from)); err != nil {
			on.free()
			return on, fmt.Errorf("batch of %d tokens: %w", len(b.IDs), err)
		}
		t.dev.WriteInts(*list.to, list.from)
	}
	return on, nil
}

func (on indices) free() {
	for _, t := range []tensor.Tensor{on.ids, on.positions, on.rows, on.targets} {
		t.Free()
	}
}
