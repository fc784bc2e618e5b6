package weights

import (
	"errors"
	"fmt"

	"github.com/coderl/cr/internal/pickle"
)

// torchObject is an instance of one of torch's classes that only describes: a
// placement, a mesh, a specification. Its fields are those of its state, or the
// arguments it was made with.
type torchObject struct {
	class  pickle.Global
	args   pickle.Tuple
	fields map[string]any
}

// SetState takes the fields: a dict, or the pair of a dict and the slots.
func (o *torchObject) SetState(state any) error {
	if pair, ok := state.(pickle.Tuple); ok && len(pair) == 2 {
		for _, half := range pair {
			if half == nil {
				continue
			}
			if err := o.SetState(half); err != nil {
				return err
			}
		}
		return nil
	}
	d, ok := state.(*pickle.Dict)
	if !ok {
		return fmt.Errorf("state of %s is a %T", o.class.Name, state)
	}
	for _, item := range d.Items {
		if name, ok := item.Key.(string); ok {
			o.fields[name] = item.Value
		}
	}
	return nil
}

// torchDict is a collections.OrderedDict; what Python code hung on it as
// attributes (a state dict's _metadata) is dropped.
type torchDict struct{ pickle.Dict }

// asDict is a dict of either kind; nil for anything else.
func asDict(v any) *pickle.Dict {
	switch d := v.(type) {
	case *torchDict:
		return &d.Dict
	case *pickle.Dict:
		return d
	}
	return nil
}

// SetState drops the attributes.
func (d *torchDict) SetState(any) error { return nil }

// torchGlobals is the allow-list: every name that a state dict of tensors and
// of DTensors refers to, by the modules of torch 2.1 to 2.15. None of them does
// anything but describe.
func torchGlobals() map[pickle.Global]pickle.Constructor {
	allowed := map[pickle.Global]pickle.Constructor{
		{Module: "collections", Name: "OrderedDict"}:                newTorchDict,
		{Module: "torch._utils", Name: "_rebuild_tensor_v2"}:        rebuildTensor,
		{Module: "torch._utils", Name: "_rebuild_parameter"}:        rebuildParameter,
		{Module: "torch._tensor", Name: "_rebuild_from_type_v2"}:    rebuildFromType,
		{Module: "torch._utils", Name: "_rebuild_wrapper_subclass"}: nil,
		{Module: "torch", Name: "Size"}:                             firstArgument,
		{Module: "torch", Name: "device"}:                           nothing,
		{Module: "torch.serialization", Name: "_get_layout"}:        nothing,
		{Module: "torch.distributed.tensor", Name: "DTensor"}:       nil,
		{Module: "torch.distributed._tensor.api", Name: "DTensor"}:  nil,
		{Module: "torch.distributed.tensor._api", Name: "DTensor"}:  nil,
		{Module: "torch.nn.parameter", Name: "Parameter"}:           nil,
		{Module: "torch", Name: "Tensor"}:                           nil,
	}
	for _, name := range []string{"Float", "Half", "BFloat16", "Double", "Long", "Int", "Short", "Char", "Byte", "Bool"} {
		allowed[pickle.Global{Module: "torch", Name: name + "Storage"}] = nil
	}
	for _, name := range []string{
		"float32", "float16", "bfloat16", "float64", "int64", "int32", "int16", "int8", "uint8", "bool",
	} {
		allowed[pickle.Global{Module: "torch", Name: name}] = nil
	}
	for _, class := range descriptions() {
		allowed[class] = func(args pickle.Tuple) (any, error) {
			return &torchObject{class: class, args: args, fields: map[string]any{}}, nil
		}
	}
	return allowed
}

// descriptions are the classes that [torchObject] stands for.
func descriptions() []pickle.Global {
	var classes []pickle.Global
	for module, names := range map[string][]string{
		"torch.distributed.device_mesh":             {"DeviceMesh"},
		"torch.distributed._tensor.device_mesh":     {"DeviceMesh"},
		"torch.distributed._mesh_layout":            {"_MeshLayout", "_FlatLayout"},
		"torch.distributed.tensor._dtensor_spec":    {"DTensorSpec", "TensorMeta", "ShardOrderEntry"},
		"torch.distributed._tensor.placement_types": {"DTensorSpec", "TensorMeta", "Shard", "Replicate", "Partial", "_Partial", "_StridedShard"},
		"torch.distributed.tensor.placement_types":  {"DTensorSpec", "TensorMeta", "Shard", "Replicate", "Partial", "_StridedShard"},
	} {
		for _, name := range names {
			classes = append(classes, pickle.Global{Module: module, Name: name})
		}
	}
	return classes
}

func newTorchDict(args pickle.Tuple) (any, error) {
	if len(args) != 0 {
		return nil, errors.New("an OrderedDict made from arguments")
	}
	return &torchDict{}, nil
}

func nothing(pickle.Tuple) (any, error) { return nil, nil }

// firstArgument is torch.Size: the tuple it is made from.
func firstArgument(args pickle.Tuple) (any, error) {
	if len(args) != 1 {
		return nil, errors.New("want one argument")
	}
	return args[0], nil
}

// rebuildParameter(tensor, requires_grad, hooks) is the tensor.
func rebuildParameter(args pickle.Tuple) (any, error) {
	if len(args) == 3 {
		switch args[0].(type) {
		case *torchTensor, *dtensor:
			return args[0], nil
		}
	}
	return nil, errors.New("a parameter that holds no tensor")
}

// rebuildTensor(storage, offset, size, stride, requires_grad, hooks[, metadata]).
func rebuildTensor(args pickle.Tuple) (any, error) {
	if len(args) < 6 || len(args) > 7 {
		return nil, fmt.Errorf("%d arguments", len(args))
	}
	storage, ok := args[0].(*torchStorage)
	offset, ok2 := args[1].(int64)
	shape, err := dimensions(args[2])
	if !ok || !ok2 || err != nil {
		return nil, errors.New("not a storage, an offset and a size")
	}
	stride, err := dimensions(args[3])
	if err != nil {
		return nil, err
	}
	return newTorchTensor(storage, offset, shape, stride)
}

// dimensions reads a tuple of sizes.
func dimensions(v any) ([]int, error) {
	t, ok := v.(pickle.Tuple)
	if !ok || len(t) > rankLimit {
		return nil, fmt.Errorf("not a tuple of at most %d sizes: %s", rankLimit, pickle.Describe(v))
	}
	sizes := make([]int, len(t))
	for i, item := range t {
		n, ok := item.(int64)
		if !ok || n < 0 || n > 1<<40 {
			return nil, fmt.Errorf("size %s", pickle.Describe(item))
		}
		sizes[i] = int(n)
	}
	return sizes, nil
}

// rebuildFromType(function, class, arguments, state) is a DTensor when the class
// is; a subclass of anything else is refused.
func rebuildFromType(args pickle.Tuple) (any, error) {
	if len(args) != 4 {
		return nil, fmt.Errorf("%d arguments", len(args))
	}
	class, ok := args[1].(pickle.Global)
	inner, ok2 := args[2].(pickle.Tuple)
	if !ok || !ok2 || class.Name != "DTensor" {
		return nil, fmt.Errorf("a tensor of class %s", pickle.Describe(args[1]))
	}
	return newDTensor(inner, args[3])
}
