package devicetest

import (
	"fmt"
	"math"
	"slices"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

// scene is an attention call's inputs on the host.
type scene struct {
	q, k, v []float32
	heads   reference.Heads
	batch   tensor.AttentionBatch
	pages   int
}

// newScene draws queries and a cache whose pages the lists use in mixed order.
func (h *harness) newScene(heads reference.Heads, pages int, b tensor.AttentionBatch) scene {
	b.Scale = float32(1 / math.Sqrt(float64(heads.Dim)))
	cache := pages * tensor.PageSize * heads.KV * heads.Dim
	q := h.values(len(b.Pos) * heads.Query * heads.Dim)
	for i := range q {
		q[i] *= 3 // some weights far above the others
	}
	return scene{q: q, k: h.values(cache), v: h.values(cache), heads: heads, batch: b, pages: pages}
}

// run computes the scene on the device.
func (h *harness) run(s scene) []float32 {
	h.Helper()
	q := h.put(s.q, len(s.batch.Pos), s.heads.Query, s.heads.Dim)
	cache := []int{s.pages * tensor.PageSize, s.heads.KV, s.heads.Dim}
	dst := h.new(tensor.F32, q.Shape...)
	h.d.Attention(dst, q, tensor.KV{K: h.put(s.k, cache...), V: h.put(s.v, cache...)}, s.batch)
	return h.read(dst)
}

// rows returns the scene of query rows [lo, hi) alone.
func (s scene) rows(lo, hi int) scene {
	width := s.heads.Query * s.heads.Dim
	s.q = s.q[lo*width : hi*width]
	s.batch.Seq, s.batch.Pos = s.batch.Seq[lo:hi], s.batch.Pos[lo:hi]
	return s
}

// headLayouts have groups of 1 to 9 and head lengths that fill vectors or not.
var headLayouts = [...]reference.Heads{
	{Query: 1, KV: 1, Dim: 16},
	{Query: 9, KV: 3, Dim: 64},
	{Query: 4, KV: 2, Dim: 20},
	{Query: 8, KV: 1, Dim: 128},
	{Query: 9, KV: 1, Dim: 33},
	{Query: 2, KV: 2, Dim: 256},
	{Query: 5, KV: 1, Dim: 100},
}

// mixedBatch is a chunk of one sequence across a page's edge, single rows of
// others, and two that share their first page.
func mixedBatch() tensor.AttentionBatch {
	b := tensor.AttentionBatch{Pages: [][]int32{{3, 0, 5}, {1}, {4, 2}, {4, 6}, {7}}}
	for p := int32(28); p < 70; p++ {
		b.Seq, b.Pos = append(b.Seq, 0), append(b.Pos, p)
	}
	b.Seq = append(b.Seq, 1, 2, 3, 4, 2)
	b.Pos = append(b.Pos, 0, 40, 51, 31, 32)
	return b
}

func testAttention(h *harness) {
	for _, heads := range headLayouts {
		s := h.newScene(heads, 8, mixedBatch())
		want := make([]float32, len(s.q))
		for i := range s.batch.Pos {
			for kv := range heads.KV {
				reference.Attention(want, s.q, s.k, s.v, heads, s.batch, i, kv)
			}
		}
		// Scores reach some ten, as sums of products up to a hundred.
		h.near(h.run(s), want, 1e-5, fmt.Sprintf("%+v", heads))
	}
}

func testAttentionRowsAlone(h *harness) {
	for _, heads := range headLayouts {
		s := h.newScene(heads, 8, mixedBatch())
		whole := h.run(s)
		for _, step := range []int{1, 3, 20} {
			var parts []float32
			for lo := 0; lo < len(s.batch.Pos); lo += step {
				parts = append(parts, h.run(s.rows(lo, min(len(s.batch.Pos), lo+step)))...)
			}
			h.same(parts, whole, fmt.Sprintf("%+v by %d rows", heads, step))
		}
	}
}

// testAttentionSharedPages gives two sequences one page, then a copy each.
func testAttentionSharedPages(h *harness) {
	heads := reference.Heads{Query: 6, KV: 2, Dim: 24}
	shared := tensor.AttentionBatch{Seq: []int32{0, 1}, Pos: []int32{45, 60}, Pages: [][]int32{{0, 1}, {0, 2}}}
	s := h.newScene(heads, 4, shared)
	page := tensor.PageSize * heads.KV * heads.Dim
	copy(s.k[3*page:], s.k[:page])
	copy(s.v[3*page:], s.v[:page])
	apart := s
	apart.batch.Pages = [][]int32{{0, 1}, {3, 2}}
	h.same(h.run(apart), h.run(s), "a shared page and its copy")
}

// testAttentionUnseenKeys fills what no row may see with NaN.
func testAttentionUnseenKeys(h *harness) {
	heads := reference.Heads{Query: 3, KV: 1, Dim: 40}
	b := tensor.AttentionBatch{Seq: []int32{0, 0, 1}, Pos: []int32{33, 34, 2}, Pages: [][]int32{{0, 1}, {2, 3}}}
	s := h.newScene(heads, 4, b)
	clean := h.run(s)
	row, nan := heads.KV*heads.Dim, float32(math.NaN())
	dirty := s
	dirty.k, dirty.v = slices.Clone(s.k), slices.Clone(s.v)
	for r := range 4 * tensor.PageSize {
		if r <= 34 || r >= 2*tensor.PageSize && r <= 2*tensor.PageSize+2 {
			continue
		}
		for i := range row {
			dirty.k[r*row+i], dirty.v[r*row+i] = nan, nan
		}
	}
	h.same(h.run(dirty), clean, "NaN in unseen rows")
}
