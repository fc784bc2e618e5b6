package train

import (
	"fmt"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/autograd"
)

// parameter is one trained tensor with what its training needs.
type parameter struct {
	name         string
	master       tensor.Tensor // F32
	compute      tensor.Tensor // what operations read: master, or its copy in BF16
	grad         tensor.Tensor // F32
	mean, square tensor.Tensor // AdamW's moments, F32
	leaf         *autograd.Value
}

// newParameter allocates a parameter of zeros that computes in the given type.
func newParameter(dev tensor.TrainingDevice, name string, compute tensor.DType, shape []int) (*parameter, error) {
	p := &parameter{name: name}
	for _, t := range []*tensor.Tensor{&p.master, &p.grad, &p.mean, &p.square} {
		var err error
		if *t, err = dev.New(tensor.F32, shape...); err != nil {
			return nil, fmt.Errorf("train %s: %w", name, err)
		}
	}
	p.compute = p.master
	if compute != tensor.F32 {
		var err error
		if p.compute, err = dev.New(compute, shape...); err != nil {
			return nil, fmt.Errorf("train %s: %w", name, err)
		}
	}
	p.leaf = autograd.NewLeaf(p.compute, p.grad)
	return p, nil
}

// refresh makes what operations read agree with the master.
func (p *parameter) refresh(dev tensor.TrainingDevice) {
	if p.compute.DType != tensor.F32 {
		dev.Convert(p.compute, p.master)
	}
}

// weight is a weight as the training graph reads it.
type weight struct {
	leaf    *autograd.Value
	adapter *adapter      // nil: none
	merged  tensor.Tensor // with the adapter, for an engine; no memory until asked for
}

// adapter is LoRA's addition to one matrix: scale·B·A.
type adapter struct {
	module string     // "model.layers.0.self_attn.q_proj"
	a      *parameter // [rank, in]
	b      *parameter // [out, rank]
}
