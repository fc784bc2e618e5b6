// Package runtime is the engine: it opens a model and runs many sequences of
// tokens through it at once.
//
// One goroutine owns the device. Each step it takes rows of several sequences
// (continuous batching), old prompts' chunks beside new tokens, so a sequence
// starts as soon as there is room. Keys and values live in pages that sequences
// with a common prefix share. Whatever shares a step with a sequence, its
// tokens and log-probabilities are the same to the bit: the device computes
// every row for itself, and draws are keyed by (seed, request, position).
package runtime

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"

	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/weights"
)

// Options are how a model is opened. The zero value is a good default.
type Options struct {
	Device       string // "cpu", the default
	Threads      int    // 0: one a core
	DType        string // weights kept as "file" (default), or converted to "f32" or "bf16"
	CacheBytes   int64  // key/value cache; 0: half of the memory that is free
	MaxBatch     int    // sequences that run at once; 0: 16
	PrefillChunk int    // prompt tokens a step; 0: 256
}

// scoreRows is how many rows of logits a step computes for scoring.
const scoreRows = 32

// ErrClosed reports use of a closed engine.
var ErrClosed = errors.New("runtime: the engine is closed")

// Engine is an open model. It is safe for concurrent use.
type Engine struct {
	options    Options
	config     model.Config
	name       string
	checkpoint *weights.Checkpoint
	shared     Shared // the owner of device and checkpoint; nil: the engine
	chatOnce   sync.Once
	chat       *chat.Model
	chatErr    error

	device tensor.Device
	model  *model.Model
	cache  []tensor.KV
	logits []float32 // host copy of a step's rows

	mu        sync.Mutex
	wake      *sync.Cond // work has come, or the end
	pool      *pool
	sequences []*Sequence // all that are open, oldest first
	active    []*request  // that run or could, oldest sequence first
	numbers   uint64
	stats     Stats
	closed    bool
	stopped   chan struct{} // the scheduler has ended
	step      step          // the scheduler's
}

// Open opens a Hugging Face folder or a .gguf file.
func Open(ctx context.Context, path string, o Options) (*Engine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	device, err := openDevice(o)
	if err != nil {
		return nil, err
	}
	return openOn(device, path, o)
}

func (o Options) withDefaults() (Options, error) {
	if o.Threads <= 0 {
		o.Threads = goruntime.NumCPU()
	}
	if o.MaxBatch <= 0 {
		o.MaxBatch = 16
	}
	if o.PrefillChunk <= 0 {
		o.PrefillChunk = 256
	}
	switch o.DType {
	case "":
		o.DType = "file"
	case "file", "f32", "bf16":
	default:
		return o, fmt.Errorf("dtype %q: choose file, f32 or bf16", o.DType)
	}
	return o, nil
}

// openOn opens a model on a device, which the engine then owns.
func openOn(device tensor.Device, path string, o Options) (*Engine, error) {
	checkpoint, err := weights.Open(path)
	if err != nil {
		return nil, errors.Join(err, device.Close())
	}
	e := newEngine(device, checkpoint, o)
	if err := e.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), device.Close(), checkpoint.Close())
	}
	go e.run()
	return e, nil
}

func newEngine(device tensor.Device, checkpoint *weights.Checkpoint, o Options) *Engine {
	e := &Engine{
		options: o, config: checkpoint.Config(), checkpoint: checkpoint, device: device,
		name:    strings.TrimSuffix(filepath.Base(filepath.Clean(checkpoint.Path())), ".gguf"),
		stopped: make(chan struct{}),
		step:    step{claimed: map[pageKey]struct{}{}},
	}
	e.wake = sync.NewCond(&e.mu)
	return e
}

// load reads the weights and allocates the cache.
func (e *Engine) load() error {
	rows, outs := e.options.MaxBatch+e.options.PrefillChunk, e.options.MaxBatch+scoreRows
	var err error
	if e.shared != nil {
		e.model, err = e.shared.Serve(rows, outs)
	} else {
		e.model, err = model.Load(e.device, source{e.checkpoint, e.options.DType}, e.config, rows, outs)
	}
	if err != nil {
		return err
	}
	pages, err := cachePages(e.config, e.options, e.model.WeightBytes)
	if err != nil {
		return err
	}
	if e.cache, err = e.model.NewCache(pages); err != nil {
		return err
	}
	e.pool = newPool(pages)
	e.logits = make([]float32, outs*e.config.Vocab)
	return e.device.Sync()
}

// Config is what the checkpoint says of its model.
func (e *Engine) Config() model.Config { return e.config }

// Name is the last part of the model's path, without .gguf.
func (e *Engine) Name() string { return e.name }

// Fingerprint identifies the weights, as [weights.Checkpoint.Fingerprint] does.
func (e *Engine) Fingerprint() string { return e.checkpoint.Fingerprint() }

// Notices are lines a user should see, as [weights.Checkpoint.Notices] gives them.
func (e *Engine) Notices() []string { return e.checkpoint.Notices() }

// Chat is the model's tokenizer and template, read on first use. A model
// without a tokenizer still generates from token ids.
func (e *Engine) Chat() (*chat.Model, error) {
	e.chatOnce.Do(func() { e.chat, e.chatErr = openChat(e.checkpoint) })
	return e.chat, e.chatErr
}

// CacheTokens is how many tokens the key/value cache holds, those of all
// sequences together.
func (e *Engine) CacheTokens() int { return len(e.pool.pages) * tensor.PageSize }

// Close ends running generations with [ErrClosed] and frees everything, the
// chat model included.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.wake.Signal()
	e.mu.Unlock()
	<-e.stopped
	err := e.free()
	e.chatOnce.Do(func() { e.chatErr = ErrClosed })
	if e.chat != nil {
		err = errors.Join(err, e.chat.Close())
	}
	return err
}
