package runtime

import (
	"errors"
	"fmt"
	"sync"

	"github.com/coderl/cr/runtime/sampling"
)

// errCancelled ends a request whose caller has gone; the caller sees its
// context's error.
var errCancelled = errors.New("runtime: the sequence was closed")

// request is one generation or scoring that runs. Between submit and done its
// results belong to the scheduler.
type request struct {
	seq       *Sequence
	cancelled bool // guarded by the engine's lock
	finish    string
	err       error
	done      chan struct{}

	// generation
	params   Params
	sampler  *sampling.Sampler
	text     *text // nil without a tokenizer
	limit    int   // most tokens
	position int   // of the next token in its sequence
	ids      []int32
	logProbs []float32

	mu     sync.Mutex
	fresh  []Token       // sampled, not yet handed to the caller
	notify chan struct{} // fresh has grown

	// scoring
	scoring bool
	targets []int32 // the token after each row
	scores  []float32
}

// ErrNotFinite reports logits that are infinite or NaN: damaged weights, or
// numbers beyond the range of float32.
var ErrNotFinite = errors.New("the model's logits are not finite: its weights are damaged or out of range")

// take samples from a row of logits, or scores the rows from position start on.
// A preempted request scores its first rows again, to the same values.
func (r *request) take(rows []float32, start int) {
	if !sampling.Finite(rows) {
		r.err = fmt.Errorf("runtime: after token %d: %w", start, ErrNotFinite)
		return
	}
	if !r.scoring {
		r.sample(rows)
		return
	}
	vocab := r.seq.engine.config.Vocab
	for i := range len(rows) / vocab {
		r.scores[start+i] = sampling.LogProb(rows[i*vocab:(i+1)*vocab], r.targets[start+i], 0)
	}
	if start+len(rows)/vocab == len(r.targets) {
		r.finish = FinishStop
	}
}

// sample draws the next token and sees whether it is the last.
func (r *request) sample(logits []float32) {
	token, text := Token{}, r.text
	token.ID, token.LogProb = r.sampler.Sample(logits, r.position, r.params.LogProbs)
	if r.params.LogProbs {
		r.logProbs = append(r.logProbs, token.LogProb)
	}
	r.sampler.See(token.ID)
	r.ids = append(r.ids, token.ID)
	r.position++

	stopped := r.isEOS(token.ID)
	if text != nil && !stopped {
		token.Text, stopped = text.add(token.ID)
	}
	switch {
	case stopped:
		r.finish = FinishStop
	case len(r.ids) >= r.limit:
		r.finish = FinishLength
	}
	if r.finish != "" && text != nil {
		token.Text += text.flush()
	}
	r.push(token)
}

// push makes a token ready for the caller, without waiting for it.
func (r *request) push(t Token) {
	r.mu.Lock()
	r.fresh = append(r.fresh, t)
	r.mu.Unlock()
	select {
	case r.notify <- struct{}{}:
	default:
	}
}

// collect takes the tokens that are ready.
func (r *request) collect() []Token {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := r.fresh
	r.fresh = nil
	return fresh
}
