package weights

import (
	"fmt"

	"github.com/coderl/cr/internal/pickle"
)

// torchTensor is a tensor as torch saves it: a view of a storage.
type torchTensor struct {
	storage *torchStorage
	offset  int // in elements
	shape   []int
	stride  []int
}

// newTorchTensor checks that every element lies inside the storage.
func newTorchTensor(s *torchStorage, offset int64, shape, stride []int) (*torchTensor, error) {
	if len(stride) != len(shape) {
		return nil, fmt.Errorf("size %v with strides %v", shape, stride)
	}
	elements, last := int64(1), offset
	for i, d := range shape {
		if d == 0 {
			return &torchTensor{storage: s, shape: shape, stride: stride}, nil
		}
		if elements > s.elements/int64(d) {
			return nil, fmt.Errorf("size %v in a storage of %d elements", shape, s.elements)
		}
		elements *= int64(d)
		if stride[i] > 0 && int64(d-1) > s.elements/int64(stride[i]) {
			return nil, fmt.Errorf("size %v with strides %v in a storage of %d elements", shape, stride, s.elements)
		}
		last += int64(d-1) * int64(stride[i])
	}
	if offset < 0 || last >= s.elements {
		return nil, fmt.Errorf("size %v with strides %v from %d in a storage of %d elements", shape, stride, offset, s.elements)
	}
	return &torchTensor{storage: s, offset: int(offset), shape: shape, stride: stride}, nil
}

func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// contiguous says whether the elements lie in row-major order without gaps.
func (t *torchTensor) contiguous() bool {
	want := 1
	for i := len(t.shape) - 1; i >= 0; i-- {
		if t.shape[i] != 1 && t.stride[i] != want {
			return false
		}
		want *= t.shape[i]
	}
	return true
}

// bytes returns the elements in row-major order: a view where they lie so, else
// a copy.
func (t *torchTensor) bytes() []byte {
	n := product(t.shape)
	if n == 0 {
		return nil
	}
	width := t.storage.width
	if t.contiguous() {
		return t.storage.data[t.offset*width : (t.offset+n)*width]
	}
	out := make([]byte, 0, n*width)
	index := make([]int, len(t.shape))
	for range n {
		at := t.offset
		for i, x := range index {
			at += x * t.stride[i]
		}
		out = append(out, t.storage.data[at*width:(at+1)*width]...)
		for i := len(index) - 1; i >= 0; i-- {
			if index[i]++; index[i] < t.shape[i] {
				break
			}
			index[i] = 0
		}
	}
	return out
}

// stored is the tensor under a name of the checkpoint.
func (t *torchTensor) stored(name string) stored {
	return stored{name: name, dtype: t.storage.dtype, foreign: t.storage.foreign, shape: t.shape, data: t.bytes()}
}

// named is a tensor of a state dict, whole or a shard of one.
type named struct {
	name  string
	whole *torchTensor
	shard *dtensor
}

func (n named) local() *torchTensor {
	if n.shard != nil {
		return n.shard.local
	}
	return n.whole
}

// readStateDict reads a torch file that holds one flat dict of tensors.
func readStateDict(data []byte) ([]named, error) {
	v, err := readTorch(data)
	if err != nil {
		return nil, err
	}
	dict := asDict(v)
	if dict == nil {
		return nil, corrupt("not a dict of tensors but a %T", v)
	}
	var all []named
	seen := map[string]bool{}
	total := 0
	for _, item := range dict.Items {
		name, ok := item.Key.(string)
		if !ok || seen[name] {
			return nil, corrupt("key %s is no name, or there twice", pickle.Describe(item.Key))
		}
		seen[name] = true
		n := named{name: name}
		switch t := item.Value.(type) {
		case *torchTensor:
			n.whole = t
		case *dtensor:
			n.shard = t
		default:
			return nil, corrupt("%.80q is a %T, not a tensor", name, item.Value)
		}
		if total += product(n.local().shape) * n.local().storage.width; total > torchAliases*len(data)+1<<20 {
			return nil, corrupt("its tensors are many times larger than the file")
		}
		all = append(all, n)
	}
	return all, nil
}
