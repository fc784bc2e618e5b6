package cpu

import (
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

// rowTile is how many query rows one attention task takes: rows that see the
// same page of the cache read it once.
const rowTile = 16

// attention is one call with its page lists laid flat: row i's list begins at
// pages[first[i]].
type attention struct {
	dst, q, k, v []float32
	heads        reference.Heads
	batch        tensor.AttentionBatch
	first, pages []int32
}

// Attention implements [tensor.Device].
func (d *Device) Attention(dst, q tensor.Tensor, kv tensor.KV, b tensor.AttentionBatch) {
	if d.fail(tensor.CheckAttention(dst, q, kv, b)) {
		return
	}
	out, in := d.output("Attention", dst), d.input("Attention", q)
	k, v := d.input("Attention", kv.K), d.input("Attention", kv.V)
	if d.err != nil || len(out) == 0 {
		return
	}
	a := &attention{
		dst: floatsOf(out), q: floatsOf(in), k: floatsOf(k), v: floatsOf(v), batch: b,
		heads: reference.Heads{Query: q.Shape[1], KV: kv.K.Shape[1], Dim: q.Shape[2]},
	}
	a.flatten()
	tiles := (len(b.Pos) + rowTile - 1) / rowTile
	cost := 2 * a.heads.Query / a.heads.KV * a.heads.Dim * a.keys() / (8 * tiles)
	d.pool.split(tiles*a.heads.KV, 1, cost, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := i / a.heads.KV * rowTile
			d.kern.attention(a, row, min(row+rowTile, len(b.Pos)), i%a.heads.KV)
		}
	})
}

// flatten lays out the page lists; each sequence's is written once.
func (a *attention) flatten() {
	at := make([]int32, len(a.batch.Pages))
	for s, list := range a.batch.Pages {
		at[s] = int32(len(a.pages))
		a.pages = append(a.pages, list...)
	}
	a.first = make([]int32, len(a.batch.Seq))
	for i, s := range a.batch.Seq {
		a.first[i] = at[s]
	}
}

// keys returns the number of pairs of query row and visible position.
func (a *attention) keys() int {
	n := 0
	for _, p := range a.batch.Pos {
		n += int(p) + 1
	}
	return n
}
