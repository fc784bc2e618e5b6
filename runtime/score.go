package runtime

import (
	"context"
)

// Score returns the log-probability of each token given those before it: n-1
// values for n tokens, the first belonging to ids[1]. It never reads cached
// prefixes, whose logits are gone.
func (e *Engine) Score(ctx context.Context, ids []int32) ([]float32, error) {
	if err := e.checkIDs(ids); err != nil {
		return nil, err
	}
	if len(ids) > e.config.Context {
		return nil, e.tooLong(len(ids))
	}
	if len(ids) < 2 {
		return nil, nil
	}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, ErrClosed
	}
	s := e.open(ids[:len(ids)-1])
	r := &request{
		seq: s, scoring: true, targets: ids[1:], scores: make([]float32, len(ids)-1),
		notify: make(chan struct{}, 1), done: make(chan struct{}),
	}
	e.start(r)
	e.mu.Unlock()
	defer s.Close()
	e.await(ctx, r, nil)
	if r.err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return r.scores, r.err
}
