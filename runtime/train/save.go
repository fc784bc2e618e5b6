package train

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/autograd"
	"github.com/coderl/cr/runtime/weights"
)

// Save writes a checkpoint into a folder that exists: the model as
// [Trainer.SaveModel] has it and, to go on from, the state that
// [Trainer.Restore] reads. With LoRA the adapters lie in lora_adapter as well.
// Each file appears whole or not at all.
func (t *Trainer) Save(dir string) error {
	if err := t.SaveModel(context.Background(), dir); err != nil {
		return err
	}
	if t.options.LoRA != nil {
		adapters := filepath.Join(dir, "lora_adapter")
		if err := os.MkdirAll(adapters, 0o755); err != nil {
			return fmt.Errorf("save %s: %w", dir, err)
		}
		if err := t.SaveAdapter(adapters); err != nil {
			return err
		}
	}
	return t.saveState(dir)
}

// SaveModel writes the model in Hugging Face layout into a folder that exists,
// with the adapters of LoRA merged into their matrices. The files beside the
// weights are those of the model that was opened, byte for byte; those of a GGUF
// are made from what it says. Weights have the types of Options.Save.
func (t *Trainer) SaveModel(ctx context.Context, dir string) error {
	beside, err := t.sideFiles()
	if err != nil {
		return fmt.Errorf("save %s: %w", dir, err)
	}
	s := &saver{t: t, params: map[string]*parameter{}}
	for _, p := range t.parameters {
		s.params[p.name] = p
	}
	tensors, err := s.tensors(beside)
	if err != nil {
		return fmt.Errorf("save %s: %w", dir, err)
	}
	return weights.SaveModel(ctx, dir, tensors, beside)
}

// saver writes the weights of a trainer's model.
type saver struct {
	t      *Trainer
	params map[string]*parameter
}

// tensors lists the model's weights with the way to their values.
func (s *saver) tensors(beside *weights.SideFiles) ([]weights.Unwritten, error) {
	asked, given := s.t.options.Save.dtype()
	if given {
		if err := beside.SetDType(asked); err != nil {
			return nil, err
		}
	}
	var list []weights.Unwritten
	for _, w := range s.t.stored {
		dtype := w.dtype
		if given {
			dtype = asked
		}
		list = append(list, weights.Unwritten{Name: w.name, DType: dtype, Shape: w.shape, Write: func(out io.Writer) error {
			if err := s.write(out, dtype, w); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			return nil
		}})
	}
	return list, nil
}

// write writes a weight's values as they are to be saved.
func (s *saver) write(out io.Writer, dtype tensor.DType, w storedWeight) error {
	if p := s.params[w.name]; p != nil {
		return s.t.save(out, dtype, p.master)
	}
	if w.weight.adapter != nil {
		return s.t.saveMerged(out, dtype, w)
	}
	host, err := s.t.checkpoint.Tensor(w.name)
	if err != nil {
		return err
	}
	return saveStored(out, dtype, host)
}

// saveMerged writes a matrix with its adapter added.
func (t *Trainer) saveMerged(out io.Writer, dtype tensor.DType, w storedWeight) error {
	tape := autograd.NewForward(t.pool)
	defer tape.Release()
	sum := tape.New(w.shape...)
	if err := tape.Err(); err != nil {
		return err
	}
	if err := t.merge(sum.Data(), w.weight); err != nil {
		return err
	}
	return t.save(out, dtype, sum.Data())
}
