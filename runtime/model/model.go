package model

import (
	"fmt"
	"math"

	"github.com/coderl/cr/runtime/tensor"
)

// Model is a decoder that serves on a device: its weights, and scratch memory
// for a bounded number of rows. Like its device, it is used by one goroutine at
// a time.
type Model struct {
	Config      Config
	WeightBytes int64 // as stored

	dev       tensor.Device
	decoder   *Decoder[tensor.Tensor]
	invFreq   tensor.Tensor // [headDim/2]
	ropeScale float32
	attnScale float32 // 1/√headDim
	scratch   scratch
}

// Load reads the weights of cfg from src onto dev. maxRows bounds the rows of
// one [Model.Forward], maxOut its rows of logits. A weight that is absent or of
// another shape than cfg implies is an error that names it.
func Load(dev tensor.Device, src Source, cfg Config, maxRows, maxOut int) (*Model, error) {
	l := &loader{dev: dev, src: src}
	decoder, err := NewDecoder(cfg, l)
	if err != nil {
		return nil, err
	}
	m, err := New(dev, decoder, cfg, maxRows, maxOut)
	if err != nil {
		return nil, err
	}
	m.WeightBytes = l.bytes
	return m, nil
}

// New serves weights that dev holds already, as [Load] does those of a source.
// They stay the caller's, who may change their values between two calls of
// [Model.Forward].
func New(dev tensor.Device, decoder *Decoder[tensor.Tensor], cfg Config, maxRows, maxOut int) (*Model, error) {
	m := &Model{
		Config: cfg, dev: dev, decoder: decoder,
		attnScale: float32(1 / math.Sqrt(float64(cfg.HeadDim))),
	}
	if err := m.loadRoPE(); err != nil {
		return nil, err
	}
	var err error
	m.scratch, err = newScratch(dev, cfg, maxRows, maxOut)
	return m, err
}

// Free gives back the memory that the model allocated itself: not the weights.
func (m *Model) Free() {
	m.invFreq.Free()
	m.scratch.free()
}

// loadRoPE puts the inverse frequencies on the device.
func (m *Model) loadRoPE() error {
	freq, scale, err := InvFreq(m.Config)
	if err != nil {
		return err
	}
	if m.invFreq, err = m.dev.New(tensor.F32, len(freq)); err != nil {
		return fmt.Errorf("rotary frequencies: %w", err)
	}
	m.dev.Write(m.invFreq, freq)
	m.ropeScale = scale
	return nil
}

// Batch is the rows of one step: tokens of any mix of sequences. Row i is token
// IDs[i] at position Pos[i] of sequence Seq[i], whose cache pages are
// Pages[Seq[i]] (see [tensor.AttentionBatch]).
type Batch struct {
	IDs, Seq, Pos []int32
	Pages         [][]int32
	Out           []int32 // rows whose logits are wanted, ascending
}

// Forward runs the rows of b, stores their keys and values in cache, and
// returns the logits [len(b.Out), vocab], valid until the next Forward. Errors
// of the device surface at its next Read or Sync.
func (m *Model) Forward(cache []tensor.KV, b Batch) tensor.Tensor {
	h := Run(m.serve(cache, b), m.Config, m.decoder)
	logits := m.scratch.logits.Rows(0, h.Shape[0])
	m.dev.MatMul(logits, h, m.decoder.Head)
	return logits
}
