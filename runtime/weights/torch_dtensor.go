package weights

import (
	"errors"
	"fmt"

	"github.com/coderl/cr/internal/pickle"
)

// dtensor is one rank's part of a tensor that several ranks hold.
type dtensor struct {
	shape  []int // of the whole
	local  *torchTensor
	mesh   mesh
	holder int         // the rank that saved it; -1: not said
	places []placement // one for each axis of the mesh
}

// placement is how a tensor lies along one axis of the mesh.
type placement struct {
	kind string // "Shard", "Replicate", or another name torch has
	dim  int    // of a Shard
}

func (p placement) String() string {
	if p.kind == "Shard" {
		return fmt.Sprintf("Shard(%d)", p.dim)
	}
	return p.kind
}

// mesh is the grid of ranks: ranks[i] is at the i-th place in row-major order of
// shape.
type mesh struct {
	shape []int
	ranks []int
}

// maxRanks bounds a mesh.
const maxRanks = 1 << 16

// newDTensor reads (class, dtype, size, …) and the state's _local_tensor and
// _spec.
func newDTensor(args pickle.Tuple, state any) (*dtensor, error) {
	if len(args) < 3 {
		return nil, errors.New("a DTensor without a size")
	}
	shape, err := dimensions(args[2])
	if err != nil {
		return nil, err
	}
	fields := &torchObject{fields: map[string]any{}}
	if err := fields.SetState(state); err != nil {
		return nil, err
	}
	local, ok := fields.fields["_local_tensor"].(*torchTensor)
	spec, ok2 := fields.fields["_spec"].(*torchObject)
	if !ok || !ok2 {
		return nil, errors.New("a DTensor without a local tensor and its specification")
	}
	d := &dtensor{shape: shape, local: local}
	if d.places, err = readPlacements(spec.fields["placements"]); err != nil {
		return nil, err
	}
	grid, ok := spec.fields["mesh"].(*torchObject)
	if !ok {
		return nil, errors.New("a DTensor without a mesh")
	}
	if d.mesh, err = readMesh(grid); err != nil {
		return nil, err
	}
	if len(d.places) != len(d.mesh.shape) {
		return nil, fmt.Errorf("%d placements on a mesh of %d axes", len(d.places), len(d.mesh.shape))
	}
	d.holder = holder(grid, d.mesh)
	return d, nil
}

// holder is the rank that a mesh was pickled on: by its name, or by its place on
// the mesh (torch up to 2.9).
func holder(o *torchObject, m mesh) int {
	if rank, ok := o.fields["_rank"].(int64); ok {
		return int(rank)
	}
	place, ok := o.fields["_coordinate_on_dim"].(*pickle.List)
	if !ok || len(place.Items) != len(m.shape) {
		return -1
	}
	at := 0
	for axis, item := range place.Items {
		i, ok := item.(int64)
		if !ok || i < 0 || i >= int64(m.shape[axis]) {
			return -1
		}
		at = at*m.shape[axis] + int(i)
	}
	return m.ranks[at]
}

func readPlacements(v any) ([]placement, error) {
	t, ok := v.(pickle.Tuple)
	if !ok || len(t) == 0 {
		return nil, errors.New("a DTensor without placements")
	}
	var places []placement
	for _, item := range t {
		o, ok := item.(*torchObject)
		if !ok {
			return nil, fmt.Errorf("placement %s", pickle.Describe(item))
		}
		p := placement{kind: o.class.Name}
		if p.kind == "Shard" {
			dim, ok := o.fields["dim"].(int64)
			if !ok && len(o.args) == 1 {
				dim, ok = o.args[0].(int64)
			}
			if !ok || dim < 0 || dim >= rankLimit {
				return nil, errors.New("a Shard without its dimension")
			}
			p.dim = int(dim)
		}
		places = append(places, p)
	}
	return places, nil
}

// readMesh reads a DeviceMesh: a tensor of ranks (torch up to 2.9), or a
// layout of sizes and strides into a map of ranks.
func readMesh(o *torchObject) (mesh, error) {
	for _, name := range []string{"mesh", "_mesh"} {
		if t, ok := o.fields[name].(*torchTensor); ok {
			ranks, err := integers(t)
			return mesh{t.shape, ranks}, err
		}
	}
	layout, ok := o.fields["_layout"].(*torchObject)
	ranks, ok2 := o.fields["_rank_map"].(*torchTensor)
	if !ok || !ok2 {
		return mesh{}, errors.New("a DeviceMesh of a form not known: neither ranks nor a layout")
	}
	table, err := integers(ranks)
	if err != nil {
		return mesh{}, err
	}
	shape, stride, err := readLayout(layout)
	if err != nil {
		return mesh{}, err
	}
	return spreadRanks(shape, stride, table)
}

// readLayout reads a layout's size and stride for each axis.
func readLayout(o *torchObject) (shape, stride []int, err error) {
	axes, ok := o.fields["axes"].(pickle.Tuple)
	if !ok {
		return layoutFields(o)
	}
	for _, item := range axes {
		axis, ok := item.(*torchObject)
		if !ok {
			return nil, nil, fmt.Errorf("mesh axis %s", pickle.Describe(item))
		}
		s, t, err := layoutFields(axis)
		if err != nil {
			return nil, nil, err
		}
		switch len(s) {
		case 0: // an axis of one rank
			s, t = []int{1}, []int{0}
		case 1:
		default:
			return nil, nil, errors.New("a mesh axis flattened from several is not supported")
		}
		shape, stride = append(shape, s[0]), append(stride, t[0])
	}
	return shape, stride, nil
}

func layoutFields(o *torchObject) (shape, stride []int, err error) {
	if shape, err = sizes(o.fields["shape"]); err != nil {
		return nil, nil, err
	}
	stride, err = sizes(o.fields["stride"])
	if err == nil && len(stride) != len(shape) {
		err = fmt.Errorf("mesh of sizes %v with strides %v", shape, stride)
	}
	return shape, stride, err
}

// sizes reads a tuple of sizes, or one alone.
func sizes(v any) ([]int, error) {
	if n, ok := v.(int64); ok {
		v = pickle.Tuple{n}
	}
	return dimensions(v)
}

func spreadRanks(shape, stride, table []int) (mesh, error) {
	n := 1
	for _, d := range shape {
		if n *= d; d == 0 || n > maxRanks {
			return mesh{}, fmt.Errorf("mesh of sizes %v", shape)
		}
	}
	m := mesh{shape: shape, ranks: make([]int, n)}
	for i := range m.ranks {
		at, rest := 0, i
		for axis := len(shape) - 1; axis >= 0; axis-- {
			at += rest % shape[axis] * stride[axis]
			rest /= shape[axis]
		}
		if at >= len(table) {
			return mesh{}, fmt.Errorf("mesh of sizes %v and strides %v over %d ranks", shape, stride, len(table))
		}
		m.ranks[i] = table[at]
	}
	return m, nil
}

// integers reads a tensor of ranks, int32 or int64.
func integers(t *torchTensor) ([]int, error) {
	width := 0
	switch {
	case t.storage.foreign == "I64":
		width = 8
	case t.storage.foreign == "" && t.storage.dtype.String() == "I32":
		width = 4
	}
	n := product(t.shape)
	if width == 0 || !t.contiguous() || n > maxRanks {
		return nil, errors.New("the mesh's ranks are no plain list of integers")
	}
	values := make([]int, n)
	for i := range values {
		at := (t.offset + i) * width
		values[i] = littleInt(t.storage.data[at : at+width])
	}
	return values, nil
}

// littleInt reads a little-endian number; ranks are small and not negative.
func littleInt(b []byte) int {
	n := uint64(0)
	for i, c := range b {
		n |= uint64(c) << (8 * i)
	}
	return int(n & (1<<31 - 1))
}
