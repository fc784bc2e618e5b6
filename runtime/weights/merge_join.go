package weights

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/coderl/cr/runtime/tensor"
)

// joined is a whole tensor as its parts, in order along one dimension.
type joined struct {
	name  string
	dtype tensor.DType
	shape []int
	dim   int
	parts []part
}

// part is one rank's stretch: its length along the dimension, and its elements
// in row-major order.
type part struct {
	length int
	data   []byte
}

// join puts a tensor together from what the ranks hold of it.
func (m *merger) join(name string) (joined, error) {
	first := m.ranks[0][name]
	for rank, shard := range m.ranks {
		n := shard[name]
		switch {
		case n.local().storage.foreign != "":
			return joined{}, &UnsupportedTypeError{Tensor: name, Type: n.local().storage.foreign}
		case n.local().storage.dtype != first.local().storage.dtype:
			return joined{}, fmt.Errorf("%s on rank 0, %s on rank %d", first.local().storage.dtype, n.local().storage.dtype, rank)
		case (n.shard == nil) != (first.shard == nil):
			return joined{}, fmt.Errorf("sharded on one rank and whole on another (rank %d)", rank)
		case n.shard != nil && n.shard.holder >= 0 && n.shard.holder != rank:
			return joined{}, fmt.Errorf("the file of rank %d holds what rank %d saved: give the files their names back", rank, n.shard.holder)
		}
	}
	if first.shard == nil {
		return m.joinWhole(name)
	}
	return m.joinShards(name, *first.shard)
}

// joinShards follows the placements. Along a replicated axis of the mesh the
// first rank's copy is taken; along a sharded one the ranks follow each other.
func (m *merger) joinShards(name string, d dtensor) (joined, error) {
	axis := -1
	for i, p := range d.places {
		switch {
		case p.kind == "Shard" && axis >= 0 && d.mesh.shape[i] > 1 && d.mesh.shape[axis] > 1:
			return joined{}, fmt.Errorf("sharded along two axes of the mesh (%v), which is not supported", d.places)
		case p.kind == "Shard" && (axis < 0 || d.mesh.shape[i] > 1):
			axis = i
		case p.kind != "Shard" && p.kind != "Replicate":
			return joined{}, fmt.Errorf("placement %s is not supported", p)
		}
	}
	if axis < 0 {
		return newJoined(name, d.shape, 0, []*torchTensor{d.local})
	}
	var locals []*torchTensor
	for _, rank := range d.mesh.along(axis) {
		if rank >= len(m.ranks) {
			return joined{}, fmt.Errorf("the mesh has a rank %d, the checkpoint %d ranks", rank, len(m.ranks))
		}
		other := m.ranks[rank][name].shard
		if !slices.Equal(other.shape, d.shape) || !slices.Equal(other.places, d.places) || !slices.Equal(other.mesh.ranks, d.mesh.ranks) {
			return joined{}, fmt.Errorf("rank %d places it as %v of %v, rank 0 as %v of %v", rank, other.places, other.shape, d.places, d.shape)
		}
		locals = append(locals, other.local)
	}
	return newJoined(name, d.shape, d.places[axis].dim, locals)
}

// along lists the ranks along one axis, at the start of every other.
func (m mesh) along(axis int) []int {
	step := product(m.shape[axis+1:])
	var ranks []int
	for i := range m.shape[axis] {
		ranks = append(ranks, m.ranks[i*step])
	}
	return ranks
}

// joinWhole takes tensors that carry no placement. One rank's is whole. With
// more, only the configuration can say whether each has a copy or a stretch:
// equal values prove nothing.
func (m *merger) joinWhole(name string) (joined, error) {
	locals := make([]*torchTensor, len(m.ranks))
	rows := 0
	for rank := range m.ranks {
		locals[rank] = m.ranks[rank][name].whole
		if len(locals[rank].shape) > 0 {
			rows += locals[rank].shape[0]
		}
	}
	first := locals[0]
	want := m.wanted(name)
	switch {
	case len(locals) == 1:
		return newJoined(name, first.shape, 0, locals)
	case want == nil:
		return joined{}, errors.New("no placement is saved with it, and the configuration does not give its shape")
	case slices.Equal(first.shape, want):
		for rank, t := range locals {
			if !slices.Equal(t.shape, want) || !bytes.Equal(t.bytes(), first.bytes()) {
				return joined{}, fmt.Errorf("rank %d holds another than rank 0, without a placement", rank)
			}
		}
		return newJoined(name, want, 0, locals[:1])
	case len(want) > 0 && rows == want[0]:
		return newJoined(name, want, 0, locals)
	}
	return joined{}, fmt.Errorf("%v on rank 0 and %d rows in all, the configuration asks for %v", first.shape, rows, want)
}

// newJoined checks that the parts make up the shape.
func newJoined(name string, shape []int, dim int, locals []*torchTensor) (joined, error) {
	j := joined{name: name, dtype: locals[0].storage.dtype, shape: shape, dim: dim}
	if len(shape) == 0 {
		j.parts = []part{{1, locals[0].bytes()}}
		if len(locals) != 1 || len(locals[0].shape) != 0 {
			return joined{}, errors.New("a single value in several parts")
		}
		return j, nil
	}
	if dim >= len(shape) {
		return joined{}, fmt.Errorf("Shard(%d) of %v", dim, shape)
	}
	total := 0
	for rank, local := range locals {
		if product(local.shape) == 0 {
			continue // fewer rows than ranks: some hold none
		}
		rest := slices.Clone(local.shape)
		if len(rest) == len(shape) {
			rest[dim] = shape[dim]
		}
		if !slices.Equal(rest, shape) {
			return joined{}, fmt.Errorf("part %d has shape %v, the whole %v", rank, local.shape, shape)
		}
		total += local.shape[dim]
		j.parts = append(j.parts, part{local.shape[dim], local.bytes()})
	}
	if total != shape[dim] && product(shape) != 0 {
		return joined{}, fmt.Errorf("the parts have %d of %d along dimension %d", total, shape[dim], dim)
	}
	return j, nil
}

// each calls f with the whole's bytes, stretch by stretch in row-major order.
func (j joined) each(f func([]byte) error) error {
	if product(j.shape) == 0 {
		return nil
	}
	outer, inner := 1, j.dtype.Bytes(1)
	if len(j.shape) > 0 {
		outer, inner = product(j.shape[:j.dim]), j.dtype.Bytes(product(j.shape[j.dim+1:]))
	}
	for row := range outer {
		for _, p := range j.parts {
			size := p.length * inner
			if err := f(p.data[row*size : (row+1)*size]); err != nil {
				return err
			}
		}
	}
	return nil
}

// source is the tensor to be written in an element type.
func (j joined) source(to tensor.DType) source {
	return newSource(j.name, to, j.shape, func(w io.Writer) error {
		return j.each(func(b []byte) error { return writeConverted(w, b, j.dtype, to) })
	})
}

// writeConverted writes elements of one type as another, some thousands at a
// time.
func writeConverted(w io.Writer, b []byte, from, to tensor.DType) error {
	if from == to {
		_, err := w.Write(b)
		return err
	}
	width := from.Bytes(1)
	for stretch := range slices.Chunk(b, convertChunk*width) {
		h, err := Convert(tensor.Host{DType: from, Shape: []int{len(stretch) / width}, Data: stretch}, to)
		if err != nil {
			return err
		}
		if _, err := w.Write(h.Data); err != nil {
			return err
		}
	}
	return nil
}

// equalValues compares two tensors bit for bit, however they are cut.
func equalValues(a, b joined) (bool, error) {
	if a.dtype != b.dtype || !slices.Equal(a.shape, b.shape) {
		return false, nil
	}
	var rest []byte // of b, not yet compared
	var pieces [][]byte
	if err := b.each(func(p []byte) error { pieces = append(pieces, p); return nil }); err != nil {
		return false, err
	}
	same := true
	err := a.each(func(p []byte) error {
		for same && len(p) > 0 {
			if len(rest) == 0 {
				rest, pieces = pieces[0], pieces[1:]
			}
			n := min(len(p), len(rest))
			same = bytes.Equal(p[:n], rest[:n])
			p, rest = p[n:], rest[n:]
		}
		return nil
	})
	return same, err
}
