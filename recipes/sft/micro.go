package sft

import (
	"fmt"

	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/runtime/train"
)

// micro is a packed micro-batch. Each of its rows enters the loss with one
// weight: which rows are computed together never changes what is minimised.
type micro struct {
	batch  train.Batch
	weight float64
}

// divide packs a global batch. With norm token, the loss is −Σ logp / N over
// all N loss tokens of the batch; with verl, the mean over G groups of
// −Σ logp / N_g.
func divide(batch []examples.Example, r preset.SFT) ([]micro, error) {
	groups := [][]examples.Example{batch}
	if r.Loss.Norm == "verl" {
		groups = verlGroups(batch, r.Verl.Ranks(), r.Batch.Micro)
	}
	var all []micro
	for _, group := range groups {
		packed, err := pack(group, r.Batch.Tokens)
		if err != nil {
			return nil, err
		}
		tokens := 0
		for _, b := range packed {
			tokens += len(b.Rows)
		}
		for _, b := range packed {
			all = append(all, micro{b, 1 / (float64(len(groups)) * float64(tokens))})
		}
	}
	return all, nil
}

// verlGroups are the micro-batches of verl's fsdp_sft_trainer: its sampler deals
// the examples of a global batch out to the data-parallel ranks one by one, and
// each rank cuts its share into micro-batches.
func verlGroups(batch []examples.Example, ranks, size int) [][]examples.Example {
	var groups [][]examples.Example
	for rank := range ranks {
		var share []examples.Example
		for i := rank; i < len(batch); i += ranks {
			share = append(share, batch[i])
		}
		for at := 0; at < len(share); at += size {
			groups = append(groups, share[at:min(at+size, len(share))])
		}
	}
	return groups
}

// pack packs examples up to a number of tokens, or up to the longest of them.
func pack(batch []examples.Example, tokens int) ([]train.Batch, error) {
	for i := range batch {
		tokens = max(tokens, len(batch[i].IDs))
	}
	packed, err := examples.Pack(batch, tokens)
	if err != nil {
		return nil, fmt.Errorf("pack a batch: %w", err)
	}
	return packed, nil
}
