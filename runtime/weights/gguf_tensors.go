package weights

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// ggufPlaced is a tensor description: offset counts from the tensor area.
type ggufPlaced struct {
	stored
	offset, size uint64
}

func readDescriptions(r *ggufReader, count uint64) ([]ggufPlaced, error) {
	if count > ggufTensorLimit {
		return nil, corrupt("%d tensors, at most %d are allowed", count, ggufTensorLimit)
	}
	var placed []ggufPlaced
	seen := map[string]bool{}
	for i := uint64(0); i < count; i++ {
		p, err := readDescription(r)
		if err != nil {
			return nil, fmt.Errorf("tensor %d of %d: %w", i+1, count, err)
		}
		if seen[p.name] {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, &DuplicateTensorError{Tensor: p.name, First: "the header", Second: "the header"})
		}
		seen[p.name] = true
		placed = append(placed, p)
	}
	return placed, nil
}

func readDescription(r *ggufReader) (ggufPlaced, error) {
	name := r.name()
	rank := r.uint32()
	if r.err == nil && rank > ggufRankLimit {
		return ggufPlaced{}, corrupt("%.60q: %d dimensions", name, rank)
	}
	claimed := make([]uint64, min(rank, ggufRankLimit))
	for i := range claimed {
		claimed[i] = r.uint64()
	}
	// GGUF counts dimensions from the fastest.
	slices.Reverse(claimed)
	kind, offset := r.uint32(), r.uint64()
	if r.err != nil {
		return ggufPlaced{}, r.err
	}
	return describe(name, claimed, ggmlTypeOf(kind), offset)
}

// describe checks a tensor's claims against each other and works out its size;
// 0 for a type whose blocks are unknown.
func describe(name string, claimed []uint64, t ggmlType, offset uint64) (ggufPlaced, error) {
	shape, elements, err := checkedShape(name, claimed)
	if err != nil {
		return ggufPlaced{}, err
	}
	p := ggufPlaced{stored: stored{name: name, shape: shape, dtype: t.dtype}, offset: offset}
	if t.foreign {
		p.foreign = t.name
	}
	if t.block == 0 {
		return p, nil
	}
	if rowLength := append([]int{1}, shape...)[len(shape)]; rowLength%t.block != 0 {
		return ggufPlaced{}, corrupt("tensor %s: rows of %d values do not fill blocks of %d (%s)", name, rowLength, t.block, t.name)
	}
	if elements/t.block > math.MaxInt64/t.bytes {
		return ggufPlaced{}, corrupt("tensor %s: shape %v", name, shape)
	}
	p.size = uint64(elements/t.block) * uint64(t.bytes)
	return p, nil
}

// placeGGUF cuts the tensors out of the file, whose tensor area begins at the
// first aligned byte after the header.
func placeGGUF(placed []ggufPlaced, data []byte, headerEnd, alignment int) ([]stored, error) {
	start := (headerEnd + alignment - 1) &^ (alignment - 1)
	if start > len(data) && len(placed) > 0 {
		return nil, corrupt("truncated: no byte follows the header")
	}
	area := data[min(start, len(data)):]
	slices.SortStableFunc(placed, func(a, b ggufPlaced) int { return cmp.Compare(a.offset, b.offset) })
	tensors := make([]stored, 0, len(placed))
	end := uint64(0)
	for _, p := range placed {
		switch {
		case p.offset%uint64(alignment) != 0:
			return nil, corrupt("tensor %s begins at byte %d, not a multiple of %d", p.name, p.offset, alignment)
		case p.offset < end:
			return nil, corrupt("tensor %s overlaps the one before it", p.name)
		case p.offset > uint64(len(area)) || p.size > uint64(len(area))-p.offset:
			return nil, corrupt("truncated: tensor %s ends beyond the file's %d bytes", p.name, len(data))
		}
		end = p.offset + p.size
		p.data = area[p.offset:end:end]
		tensors = append(tensors, p.stored)
	}
	return tensors, nil
}
