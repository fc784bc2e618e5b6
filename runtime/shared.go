package runtime

import (
	"errors"
	"fmt"

	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/weights"
)

// Shared is a model whose weights somebody else holds and changes: one in
// training, from which an engine samples. A train.Trainer is one.
type Shared interface {
	// Device holds the weights.
	Device() tensor.Device
	// Checkpoint is the model that was opened, with its tokenizer.
	Checkpoint() *weights.Checkpoint
	// Serve returns a model of the weights as they are at each step.
	Serve(maxRows, maxOut int) (*model.Model, error)
	// Refresh makes what Serve returned agree with weights that have changed.
	Refresh() error
}

// Attach opens an engine on a shared model, in whose memory it samples; its own
// are the cache and scratch. Options.Device, Threads and DType are the owner's.
// While requests run the owner must leave the device alone; when it has changed
// the weights it calls [Engine.Renew]. Close the engine before the owner.
func Attach(shared Shared, o Options) (*Engine, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	checkpoint := shared.Checkpoint()
	if checkpoint == nil {
		return nil, errors.New("runtime: a model from scratch has no tokenizer to sample with: save it, and open that")
	}
	e := newEngine(shared.Device(), checkpoint, o)
	e.shared = shared
	if err := e.load(); err != nil {
		return nil, fmt.Errorf("sample from %s: %w", checkpoint.Path(), err)
	}
	go e.run()
	return e, nil
}

// Renew takes over changed weights: it forgets all keys and values, which open
// sequences then compute again. No request may be running.
func (e *Engine) Renew() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return ErrClosed
	case len(e.active) > 0:
		return errBusy
	}
	for _, s := range e.sequences {
		e.evict(s)
	}
	e.pool = newPool(len(e.pool.pages))
	if e.shared == nil {
		return nil
	}
	return e.shared.Refresh()
}

// free gives the engine's memory back: everything on a device of its own.
func (e *Engine) free() error {
	if e.shared == nil {
		return errors.Join(e.device.Close(), e.checkpoint.Close())
	}
	for _, kv := range e.cache {
		kv.K.Free()
		kv.V.Free()
	}
	e.model.Free()
	return nil
}
