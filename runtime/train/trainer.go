package train

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"

	"github.com/coderl/cr/runtime/cpu"
	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/autograd"
	"github.com/coderl/cr/runtime/weights"
)

// Trainer is a model in training. It is used by one goroutine at a time.
type Trainer struct {
	options    Options
	path       string
	checkpoint *weights.Checkpoint // nil for a model from scratch
	config     model.Config

	dev               tensor.TrainingDevice
	pool              *autograd.Pool
	decoder           *model.Decoder[*weight]
	stored            []storedWeight // that a saved model holds, in the order of the graph
	initType          tensor.DType   // of weights from scratch, when saved
	parameters        []*parameter   // in the order of the graph
	squares           tensor.Tensor  // [len(parameters)], of gradients
	invFreq, backFreq tensor.Tensor  // [headDim/2]
	ropeScale         float32
	updates           int // that AdamW has made
}

// Open opens a Hugging Face folder or a .gguf file for training on the cpu.
func Open(ctx context.Context, path string, o Options) (*Trainer, error) {
	threads := o.Threads
	if threads <= 0 {
		threads = goruntime.NumCPU()
	}
	return OpenOn(ctx, cpu.New(threads), path, o)
}

// OpenOn is Open on a device, which the trainer then owns.
func OpenOn(ctx context.Context, dev tensor.TrainingDevice, path string, o Options) (*Trainer, error) {
	t := &Trainer{options: o, path: path, dev: dev, pool: autograd.NewPool(dev)}
	err := ctx.Err()
	if err == nil {
		err = t.open()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("train %s: %w", path, err), t.Close())
	}
	return t, nil
}

func (t *Trainer) open() error {
	if err := t.options.check(); err != nil {
		return err
	}
	src, err := t.source()
	if err != nil {
		return err
	}
	if t.decoder, err = model.NewDecoder(t.config, &collector{t: t, src: src}); err != nil {
		return err
	}
	if len(t.parameters) > 0 {
		if t.squares, err = t.dev.New(tensor.F32, len(t.parameters)); err != nil {
			return err
		}
	}
	if err := t.loadRoPE(); err != nil {
		return err
	}
	if t.checkpoint != nil && t.options.LoRA == nil && !t.options.Frozen {
		// The weights have been copied: the file's pages need not count.
		if err := t.checkpoint.Release(); err != nil {
			return err
		}
	}
	return t.dev.Sync()
}

// check refuses options that make no sense together.
func (o Options) check() error {
	switch {
	case o.DType != tensor.F32 && o.DType != tensor.BF16:
		return fmt.Errorf("compute type %s: choose F32 or BF16", o.DType)
	case o.Save != "" && o.Save != "f32" && o.Save != "bf16":
		return fmt.Errorf("type of saved weights %q: choose f32 or bf16", o.Save)
	case o.LoRA != nil && (o.Scratch || o.Frozen):
		return errors.New("LoRA trains adapters of a model that exists: not from scratch, and not frozen")
	}
	return o.LoRA.check()
}

// source opens the model's weights and reads its config.
func (t *Trainer) source() (model.Source, error) {
	var err error
	if t.options.Scratch {
		if t.config, err = weights.ReadConfig(t.path); err != nil {
			return nil, err
		}
		if t.initType, err = initType(t.path); err != nil {
			return nil, err
		}
		return newRandom(t.config, t.options.Seed)
	}
	if t.checkpoint, err = weights.Open(t.path); err != nil {
		return nil, err
	}
	t.config = t.checkpoint.Config()
	return t.checkpoint, nil
}

// loadRoPE puts the rotary frequencies on the device, and their negatives.
func (t *Trainer) loadRoPE() error {
	freq, scale, err := model.InvFreq(t.config)
	if err != nil {
		return err
	}
	back := make([]float32, len(freq))
	for i, f := range freq {
		back[i] = -f
	}
	if t.invFreq, err = t.dev.New(tensor.F32, len(freq)); err != nil {
		return err
	}
	if t.backFreq, err = t.dev.New(tensor.F32, len(freq)); err != nil {
		return err
	}
	t.dev.Write(t.invFreq, freq)
	t.dev.Write(t.backFreq, back)
	t.ropeScale = scale
	return nil
}

// Config is what the checkpoint says of its model.
func (t *Trainer) Config() model.Config { return t.config }

// Updates is how many steps have changed the weights.
func (t *Trainer) Updates() int { return t.updates }

// Parameters is the number of trained values.
func (t *Trainer) Parameters() int {
	n := 0
	for _, p := range t.parameters {
		n += p.master.Len()
	}
	return n
}

// Close frees everything, the device included.
func (t *Trainer) Close() error {
	err := t.dev.Close()
	if t.checkpoint != nil {
		err = errors.Join(err, t.checkpoint.Close())
	}
	return err
}
