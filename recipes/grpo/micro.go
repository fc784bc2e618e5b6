package grpo

import (
	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/runtime/train"
)

// micro is some samples that are computed together.
type micro struct {
	samples []*sample
	batch   train.Batch
	rows    []place // of the batch's rows
}

// place is a sampled token of a micro-batch: of its samples, of theirs.
type place struct{ sample, token int }

// eachMicro packs samples into micro-batches up to the recipe's tokens, or to
// the longest of them.
func (r *runner) eachMicro(all []*sample, do func(micro) error) error {
	limit := r.config.Recipe.Batch.Tokens
	list := make([]examples.Example, len(all))
	for i, s := range all {
		list[i] = s.example()
		limit = max(limit, len(s.ids))
	}
	bins, err := examples.Bins(list, limit)
	if err != nil {
		return err
	}
	for _, bin := range bins {
		m, err := pack(all, list, bin)
		if err != nil {
			return err
		}
		if err := do(m); err != nil {
			return err
		}
	}
	return nil
}

func pack(all []*sample, list []examples.Example, bin []int) (micro, error) {
	var m micro
	var members []examples.Example
	tokens := 0
	for n, at := range bin {
		m.samples, members = append(m.samples, all[at]), append(members, list[at])
		for token := range all[at].sampler {
			m.rows = append(m.rows, place{n, token})
		}
		tokens += len(list[at].IDs)
	}
	batches, err := examples.Pack(members, tokens)
	if err != nil {
		return m, err
	}
	m.batch = batches[0]
	return m, nil
}

// deal hands a batch's values out to the samples that they belong to.
func (m micro) deal(values []float32, to func(*sample) *[]float32) {
	for _, s := range m.samples {
		*to(s) = values[:len(s.sampler):len(s.sampler)]
		values = values[len(s.sampler):]
	}
}
