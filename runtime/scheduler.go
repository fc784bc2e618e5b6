package runtime

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// run is the scheduler: the only goroutine that touches the device.
func (e *Engine) run() {
	defer close(e.stopped)
	for {
		st := e.next()
		if st == nil {
			return
		}
		start := time.Now()
		err := e.compute(st)
		e.commit(st, err, time.Since(start))
	}
}

// next waits for work and plans a step; nil at the end.
func (e *Engine) next() *step {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		e.sweep()
		if e.closed {
			return nil
		}
		if len(e.active) > 0 {
			if st := e.plan(); len(st.parts) > 0 {
				return st
			}
			continue // every request failed to fit and has ended
		}
		e.wake.Wait()
	}
}

// sweep ends the requests that were cancelled, or all at the end.
func (e *Engine) sweep() {
	for i := len(e.active) - 1; i >= 0; i-- {
		switch r := e.active[i]; {
		case e.closed:
			e.finish(r, "", ErrClosed)
		case r.cancelled:
			e.evict(r.seq)
			e.finish(r, "", errCancelled)
		}
	}
}

// compute runs the model and samples, without the lock: the parts' requests
// belong to the scheduler until the commit.
func (e *Engine) compute(st *step) error {
	logits := e.model.Forward(e.cache, st.batch)
	if len(st.batch.Out) == 0 {
		return e.device.Sync()
	}
	vocab := e.config.Vocab
	if err := e.device.Read(e.logits[:len(st.batch.Out)*vocab], logits); err != nil {
		return err
	}
	var wait sync.WaitGroup
	for _, p := range st.parts {
		if p.outs == 0 {
			continue
		}
		rows := e.logits[p.firstOut*vocab : (p.firstOut+p.outs)*vocab]
		wait.Go(func() { p.request.take(rows, p.start) })
	}
	wait.Wait()
	return nil
}

// commit enters a step's results: the cache's new positions, the new tokens,
// and the ends of requests.
func (e *Engine) commit(st *step, err error, took time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stats.add(st, took)
	for _, p := range st.parts {
		r := p.request
		if err != nil {
			e.evict(r.seq)
			e.finish(r, "", fmt.Errorf("runtime: step of %d rows: %w", len(st.batch.IDs), err))
			continue
		}
		r.seq.advance(p.rows)
		if p.outs == 0 {
			continue
		}
		if !r.scoring && r.err == nil {
			r.seq.ids = append(r.seq.ids, r.ids[len(r.ids)-1])
		}
		if r.err != nil || r.finish != "" {
			e.finish(r, r.finish, r.err)
		}
	}
}

// start queues a request by the age of its sequence. The engine is locked.
func (e *Engine) start(r *request) {
	r.seq.request, r.seq.waiting = r, false
	at, _ := slices.BinarySearchFunc(e.active, r, func(a, b *request) int {
		return int(int64(a.seq.number) - int64(b.seq.number))
	})
	e.active = slices.Insert(e.active, at, r)
	e.wake.Signal()
}

// finish ends a request and wakes its caller. The engine is locked.
func (e *Engine) finish(r *request, reason string, err error) {
	r.finish, r.err = reason, err
	r.seq.request = nil
	e.active = slices.DeleteFunc(e.active, func(other *request) bool { return other == r })
	close(r.done)
}
