package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/coderl/cr/runtime/sampling"
)

// Params is how one generation runs.
type Params struct {
	Sampling  sampling.Params
	MaxTokens int      // 0: as many as the context holds
	Stop      []string // texts that end the generation; need a tokenizer
	EOS       []int32  // ids that end it; nil: the checkpoint's whole list
	IgnoreEOS bool
	Seed      uint64
	Request   string // with Seed the key of the draws: question id and sample index
	LogProbs  bool   // compute log-probabilities
}

// Token is one sampled token as it comes. Text may trail the token: bytes of an
// unfinished character, or of what may become a stop text, come with a later
// one. The pieces add up to [Generation.Text].
type Token struct {
	ID      int32
	LogProb float32 // see Generation.LogProbs; 0 unless asked for
	Text    string
}

// Finish reasons.
const (
	FinishStop   = "stop"   // an end-of-sequence id, or a stop text
	FinishLength = "length" // MaxTokens, or the end of the context
)

// Generation is what one call of Generate sampled.
type Generation struct {
	// IDs are the sampled tokens, an end-of-sequence id included. After a stop
	// text the last of them is the token that completed it.
	IDs []int32
	// LogProbs, if asked for, are log-softmax(logits/temperature) of IDs over
	// the whole vocabulary, before any filter and penalty; of the raw logits at
	// temperature 0.
	LogProbs []float32
	Text     string // without end-of-sequence id and stop text; "" without a tokenizer
	Finish   string // FinishStop, FinishLength; "" when it was cut short by an error
}

// Generate samples tokens until an end-of-sequence id, a stop text, MaxTokens
// or the end of the context, and appends them to the sequence. It blocks; emit,
// which may be nil, is called from the caller's goroutine for each token. When
// ctx ends, the tokens so far are returned with its error, and the sequence's
// pages are free at once.
func (s *Sequence) Generate(ctx context.Context, p Params, emit func(Token)) (Generation, error) {
	if ctx.Err() != nil {
		return Generation{}, context.Cause(ctx)
	}
	r, err := s.newRequest(p)
	if err != nil {
		return Generation{}, err
	}
	if err := s.engine.submit(r); err != nil {
		return Generation{}, err
	}
	s.engine.await(ctx, r, emit)
	g := Generation{IDs: r.ids, LogProbs: r.logProbs, Finish: r.finish}
	if r.text != nil {
		g.Text = r.text.all.String()
	}
	if r.err != nil && ctx.Err() != nil {
		return g, context.Cause(ctx)
	}
	return g, r.err
}

// newRequest checks p against the sequence and prepares its sampling.
func (s *Sequence) newRequest(p Params) (*request, error) {
	if err := p.Sampling.Check(); err != nil {
		return nil, fmt.Errorf("sampling: %w", err)
	}
	if slices.Contains(p.Stop, "") {
		return nil, errors.New("runtime: a stop text is empty")
	}
	if p.EOS == nil {
		p.EOS = s.engine.config.EOS
	}
	if p.IgnoreEOS {
		p.EOS = nil
	}
	text, err := s.engine.newText(p.Stop)
	if err != nil {
		return nil, err
	}
	r := &request{
		seq: s, params: p, text: text,
		sampler: sampling.New(p.Sampling, p.Seed, p.Request),
		notify:  make(chan struct{}, 1), done: make(chan struct{}),
	}
	return r, nil
}

// submit queues a request, or ends it at once where there is no room for a
// token.
func (e *Engine) submit(r *request) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := r.seq
	switch {
	case e.closed || s.closed:
		return ErrClosed
	case s.request != nil:
		return errBusy
	}
	r.position = len(s.ids)
	r.limit = max(e.config.Context-len(s.ids), 0)
	if r.params.MaxTokens > 0 {
		r.limit = min(r.limit, r.params.MaxTokens)
	}
	r.sampler.See(s.ids...)
	if r.limit == 0 {
		r.finish = FinishLength
		close(r.done)
		return nil
	}
	r.ids = make([]int32, 0, min(r.limit, 1024))
	e.start(r)
	return nil
}

// await hands tokens to emit until the request ends; if ctx ends first, it has
// the scheduler drop the request and waits for that.
func (e *Engine) await(ctx context.Context, r *request, emit func(Token)) {
	stop := context.AfterFunc(ctx, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		r.cancelled = true
		e.wake.Signal()
	})
	defer stop()
	for ended := false; !ended; {
		select {
		case <-r.notify:
		case <-r.done:
			ended = true
		}
		if emit == nil {
			continue
		}
		for _, t := range r.collect() {
			emit(t)
		}
	}
}

// isEOS tells whether id ends the generation.
func (r *request) isEOS(id int32) bool { return slices.Contains(r.params.EOS, id) }
