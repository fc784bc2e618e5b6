package train

import (
	"errors"
	"fmt"

	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/autograd"
	"github.com/coderl/cr/runtime/weights"
)

// Device is the device that holds the weights.
func (t *Trainer) Device() tensor.Device { return t.dev }

// Checkpoint is the model that was opened; nil for one from scratch.
func (t *Trainer) Checkpoint() *weights.Checkpoint { return t.checkpoint }

// Serve returns a model that samples from the weights in training, in place:
// after [Trainer.Step] it has the new ones. Matrices with LoRA adapters are
// merged copies, which [Trainer.Refresh] renews. The trainer and the model must
// not be used at the same time.
func (t *Trainer) Serve(maxRows, maxOut int) (*model.Model, error) {
	served := servedWeights{}
	for _, s := range t.stored {
		served[s.name] = s.weight.leaf.Data()
		if s.weight.adapter == nil {
			continue
		}
		if s.weight.merged.Mem == nil {
			var err error
			if s.weight.merged, err = t.dev.New(tensor.F32, s.shape...); err != nil {
				return nil, fmt.Errorf("serve %s with its adapter: %w", s.name, err)
			}
		}
		served[s.name] = s.weight.merged
	}
	if err := t.Refresh(); err != nil {
		return nil, err
	}
	decoder, err := model.NewDecoder(t.config, served)
	if err != nil {
		return nil, err
	}
	return model.New(t.dev, decoder, t.config, maxRows, maxOut)
}

// Refresh makes the merged matrices of [Trainer.Serve] agree with the adapters.
func (t *Trainer) Refresh() error {
	for _, s := range t.stored {
		if s.weight.merged.Mem == nil {
			continue
		}
		if err := t.merge(s.weight.merged, s.weight); err != nil {
			return fmt.Errorf("merge %s: %w", s.name, err)
		}
	}
	return t.dev.Sync()
}

// servedWeights are device memory by name.
type servedWeights map[string]tensor.Tensor

// Has implements [model.Weights].
func (s servedWeights) Has(name string) bool { _, ok := s[name]; return ok }

// Weight implements [model.Weights].
func (s servedWeights) Weight(name string, _ ...int) (tensor.Tensor, error) {
	t, ok := s[name]
	if !ok {
		return t, &weights.MissingTensorError{Tensor: name}
	}
	return t, nil
}

// merge computes sum = W + scale·B·A, F32 [out, in], on the device.
func (t *Trainer) merge(sum tensor.Tensor, w *weight) error {
	tape := autograd.NewForward(t.pool)
	defer tape.Release()
	delta := tape.New(sum.Shape...)
	rows, err := t.dev.New(tensor.I32, sum.Shape[0])
	defer rows.Free()
	if err = errors.Join(err, tape.Err()); err != nil {
		return err
	}
	all := make([]int32, sum.Shape[0])
	for i := range all {
		all[i] = int32(i)
	}
	t.dev.WriteInts(rows, all)
	t.dev.Embed(sum, w.leaf.Data(), rows) // every row of W, expanded
	t.dev.Zero(delta.Data())
	t.dev.MatMulGradX(delta.Data(), w.adapter.b.master, w.adapter.a.master)
	t.dev.AddScaled(sum, delta.Data(), float32(t.options.LoRA.scale()))
	return t.dev.Sync()
}
