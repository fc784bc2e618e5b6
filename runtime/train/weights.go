package train

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/autograd"
	"github.com/coderl/cr/runtime/weights"
)

// projections are the matrices that LoRA can target.
var projections = [...]string{"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}

func (l *LoRA) check() error {
	switch {
	case l == nil:
		return nil
	case l.Rank < 1:
		return fmt.Errorf("LoRA: rank %d is not positive", l.Rank)
	case !(l.Alpha > 0) || math.IsInf(l.Alpha, 0):
		return fmt.Errorf("LoRA: alpha %v is not positive", l.Alpha)
	case len(l.Targets) == 0:
		return fmt.Errorf("LoRA: no targets: choose some of %s", strings.Join(projections[:], ", "))
	}
	for i, target := range l.Targets {
		if slices.Contains(l.Targets[:i], target) {
			return fmt.Errorf("LoRA: target %q stands there twice", target)
		}
		if !slices.Contains(projections[:], target) {
			return fmt.Errorf("LoRA: target %q: choose some of %s", target, strings.Join(projections[:], ", "))
		}
	}
	return nil
}

// scale is the factor on B·A.
func (l *LoRA) scale() float64 { return l.Alpha / float64(l.Rank) }

// targets tells whether a weight's name is that of a matrix to adapt.
func (l *LoRA) targets(name string) bool {
	return l != nil && slices.ContainsFunc(l.Targets, func(target string) bool {
		return strings.HasSuffix(name, "."+target+".weight")
	})
}

// collector makes the weights of a training decoder from a source.
type collector struct {
	t   *Trainer
	src model.Source
}

// Has implements [model.Weights].
func (c *collector) Has(name string) bool { return c.src.Has(name) }

// Weight implements [model.Weights].
func (c *collector) Weight(name string, shape ...int) (*weight, error) {
	host, err := model.HostWeight(c.src, name, shape...)
	if err != nil {
		return nil, err
	}
	w, err := c.make(name, host)
	if err == nil {
		c.t.stored = append(c.t.stored, storedWeight{name: name, shape: shape, dtype: c.t.savedType(host.DType), weight: w})
	}
	return w, err
}

// make puts a weight on the device, as a parameter unless it is frozen.
func (c *collector) make(name string, host tensor.Host) (*weight, error) {
	if c.t.options.Frozen || c.t.options.LoRA != nil {
		return c.frozen(name, host)
	}
	compute := c.t.options.DType
	if len(host.Shape) == 1 {
		compute = tensor.F32
	}
	p, err := c.t.addParameter(name, compute, host.Shape)
	if err != nil {
		return nil, err
	}
	c.t.load(p.master, host)
	p.refresh(c.t.dev)
	return &weight{leaf: p.leaf}, nil
}

// frozen uses a weight as it is stored, with an adapter where there is to be
// one. Vectors are F32, as operations want them.
func (c *collector) frozen(name string, host tensor.Host) (*weight, error) {
	if len(host.Shape) == 1 {
		var err error
		if host, err = weights.Convert(host, tensor.F32); err != nil {
			return nil, fmt.Errorf("load %s: %w", name, err)
		}
	}
	data, err := c.t.dev.Load(host)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", name, err)
	}
	w := &weight{leaf: autograd.NewLeaf(data, tensor.Tensor{})}
	if c.t.options.LoRA.targets(name) {
		w.adapter, err = c.t.addAdapter(strings.TrimSuffix(name, ".weight"), host.Shape)
	}
	return w, err
}

// addParameter makes a parameter that the optimiser will train.
func (t *Trainer) addParameter(name string, compute tensor.DType, shape []int) (*parameter, error) {
	p, err := newParameter(t.dev, name, compute, shape)
	if err == nil {
		t.parameters = append(t.parameters, p)
	}
	return p, err
}

// addAdapter makes the adapter of a matrix [out, in] as PEFT begins one: A
// Kaiming-uniform with a = √5, which is uniform within ±1/√in, and B zero.
func (t *Trainer) addAdapter(module string, shape []int) (*adapter, error) {
	rank := t.options.LoRA.Rank
	a, err := t.addParameter(module+".lora_A.weight", t.options.DType, []int{rank, shape[1]})
	if err != nil {
		return nil, err
	}
	b, err := t.addParameter(module+".lora_B.weight", t.options.DType, []int{shape[0], rank})
	if err != nil {
		return nil, err
	}
	values := make([]float32, rank*shape[1])
	fillUniform(values, 1/math.Sqrt(float64(shape[1])), t.options.Seed, a.name)
	t.dev.Write(a.master, values)
	a.refresh(t.dev)
	return &adapter{module: module, a: a, b: b}, nil
}
