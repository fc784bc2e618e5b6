package model

import (
	"fmt"

	"github.com/coderl/cr/runtime/tensor"
)

// NewCache allocates a paged cache: one [tensor.KV] a layer, of the given
// number of pages.
func (m *Model) NewCache(pages int) ([]tensor.KV, error) {
	c := m.Config
	cache := make([]tensor.KV, c.Layers)
	for i := range cache {
		for _, t := range []*tensor.Tensor{&cache[i].K, &cache[i].V} {
			var err error
			if *t, err = m.dev.New(tensor.F32, pages*tensor.PageSize, c.KVHeads, c.HeadDim); err != nil {
				return nil, fmt.Errorf("key/value cache of %d pages: layer %d: %w", pages, i, err)
			}
		}
	}
	return cache, nil
}

// PageBytes is the size of one cache page over all layers.
func (c Config) PageBytes() int64 {
	const keyAndValue, float32Bytes = 2, 4
	return int64(c.Layers) * keyAndValue * tensor.PageSize * int64(c.KVHeads) * int64(c.HeadDim) * float32Bytes
}
