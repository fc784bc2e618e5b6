package cpu

import (
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

// segment is one sequence of a packed batch: rows [start, end).
type segment struct{ start, end int }

// packedAttention is one call, forward or backward; the gradients are nil going
// forward.
type packedAttention struct {
	out, lse, q, k, v []float32
	dq, dk, dv, dy    []float32
	heads             reference.Heads
	segments          []segment // those with rows
	pos               []int32   // of each row in its segment
	scale             float32
}

func (a *packedAttention) reference(s segment) reference.Segment {
	return reference.Segment{Start: s.start, End: s.end, Scale: a.scale}
}

func newPackedAttention(q, k tensor.Tensor, b tensor.PackedBatch) *packedAttention {
	a := &packedAttention{
		heads: reference.Heads{Query: q.Shape[1], KV: k.Shape[1], Dim: q.Shape[2]}, scale: b.Scale,
	}
	for i, end := range b.Starts[1:] {
		if start := b.Starts[i]; start < end {
			a.segments = append(a.segments, segment{int(start), int(end)})
			for i := range end - start {
				a.pos = append(a.pos, i)
			}
		}
	}
	return a
}

// packedTile is how many query rows one task of the forward pass takes.
const packedTile = 64

// tile is query rows [lo, hi) of a segment.
type tile struct {
	segment
	lo, hi int
}

// tiles cuts the segments into tiles of at most height rows.
func (a *packedAttention) tiles(height int) []tile {
	var all []tile
	for _, s := range a.segments {
		for lo := s.start; lo < s.end; lo += height {
			all = append(all, tile{s, lo, min(s.end, lo+height)})
		}
	}
	return all
}

// PackedAttention implements [tensor.TrainingDevice].
func (d *Device) PackedAttention(dst, lse, q, k, v tensor.Tensor, b tensor.PackedBatch) {
	const op = "PackedAttention"
	if d.fail(tensor.CheckPackedAttention(dst, lse, q, k, v, b)) {
		return
	}
	out, norm := d.output(op, dst), d.output(op, lse)
	inQ, inK, inV := d.input(op, q), d.input(op, k), d.input(op, v)
	if d.err != nil || len(out) == 0 {
		return
	}
	a := newPackedAttention(q, k, b)
	a.out, a.lse, a.q, a.k, a.v = floatsOf(out), floatsOf(norm), floatsOf(inQ), floatsOf(inK), floatsOf(inV)
	tiles := a.tiles(packedTile)
	d.pool.do(len(tiles)*a.heads.KV, func(i int) {
		t := tiles[i/a.heads.KV]
		d.kern.packedAttention(a, t.segment, t.lo, t.hi, i%a.heads.KV)
	})
}

// PackedAttentionGrad implements [tensor.TrainingDevice].
func (d *Device) PackedAttentionGrad(dq, dk, dv, dy, out, lse, q, k, v tensor.Tensor, b tensor.PackedBatch) {
	const op = "PackedAttentionGrad"
	if d.fail(tensor.CheckPackedAttentionGrad(dq, dk, dv, dy, out, lse, q, k, v, b)) {
		return
	}
	toQ, toK, toV := d.output(op, dq), d.output(op, dk), d.output(op, dv)
	by, result, norm := d.input(op, dy), d.input(op, out), d.input(op, lse)
	inQ, inK, inV := d.input(op, q), d.input(op, k), d.input(op, v)
	if d.err != nil || len(inQ) == 0 {
		return
	}
	a := newPackedAttention(q, k, b)
	a.dq, a.dk, a.dv = floatsOf(toQ), floatsOf(toK), floatsOf(toV)
	a.dy, a.out, a.lse = floatsOf(by), floatsOf(result), floatsOf(norm)
	a.q, a.k, a.v = floatsOf(inQ), floatsOf(inK), floatsOf(inV)
	d.kern.packedAttentionGrad(d.pool, a)
}
