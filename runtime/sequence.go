package runtime

import (
	"errors"
	"fmt"
	"slices"

	"github.com/coderl/cr/runtime/tensor"
)

// Sequence is one growing list of tokens with its place in the cache. One
// goroutine uses it at a time; many sequences run at once.
type Sequence struct {
	engine *Engine
	// number orders sequences by age: the older goes first.
	number  uint64
	ids     []int32
	pages   []int32 // cache pages of positions 0..cached
	cached  int     // positions whose keys and values are in pages
	waiting bool    // for a tool: first to lose its pages
	closed  bool
	request *request // the generation that runs; nil: none
}

// ErrTooLong reports a prompt that leaves no room in the model's context.
var ErrTooLong = errors.New("prompt does not fit the model's context")

// errBusy reports a sequence used by two goroutines.
var errBusy = errors.New("runtime: the sequence is generating")

// NewSequence opens a sequence with a prompt. Nothing is computed before the
// first [Sequence.Generate]; prompts with a common prefix compute it once.
func (e *Engine) NewSequence(prompt []int32) (*Sequence, error) {
	if len(prompt) == 0 {
		return nil, errors.New("runtime: the prompt has no tokens")
	}
	if len(prompt) >= e.config.Context {
		return nil, e.tooLong(len(prompt))
	}
	if err := e.checkIDs(prompt); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	return e.open(prompt), nil
}

// open enters a sequence among the engine's. The engine is locked.
func (e *Engine) open(ids []int32) *Sequence {
	e.numbers++
	s := &Sequence{engine: e, number: e.numbers, ids: slices.Clone(ids)}
	e.sequences = append(e.sequences, s)
	return s
}

// TokenError reports an id that is no token of the model.
type TokenError struct {
	Position int
	ID       int32
	Vocab    int
}

func (e *TokenError) Error() string {
	return fmt.Sprintf("token %d: id %d is outside the vocabulary of %d", e.Position, e.ID, e.Vocab)
}

func (e *Engine) checkIDs(ids []int32) error {
	for i, id := range ids {
		if id < 0 || int(id) >= e.config.Vocab {
			return &TokenError{Position: i, ID: id, Vocab: e.config.Vocab}
		}
	}
	return nil
}

// Append adds tokens that the model did not sample: tool replies and glue. A
// sequence that outgrows the context ends its next generation with "length".
func (s *Sequence) Append(ids []int32) error {
	if err := s.engine.checkIDs(ids); err != nil {
		return err
	}
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	if s.request != nil {
		return errBusy
	}
	s.ids = append(s.ids, ids...)
	return nil
}

// Wait tells that the sequence waits for a tool. Its pages go first when others
// need room, and what was lost is computed again, bit-equal, when the next
// Generate ends the wait.
func (s *Sequence) Wait() {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	s.waiting = true
}

// Len is the number of tokens: prompt, appended and sampled.
func (s *Sequence) Len() int {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	return len(s.ids)
}

// Close gives the sequence's memory back. A running generation is cancelled.
func (s *Sequence) Close() {
	e := s.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := s.request; r != nil {
		r.cancelled = true
		e.wake.Signal()
		e.mu.Unlock()
		<-r.done
		e.mu.Lock()
	}
	e.drop(s)
}

// drop removes a sequence from the engine's. The engine is locked.
func (e *Engine) drop(s *Sequence) {
	s.closed = true
	e.evict(s)
	e.sequences = slices.DeleteFunc(e.sequences, func(other *Sequence) bool { return other == s })
}

// evict gives a sequence's pages back, the last first, so that the longest
// prefixes survive longest. The engine is locked.
func (e *Engine) evict(s *Sequence) {
	for i := len(s.pages) - 1; i >= 0; i-- {
		e.pool.release(s.pages[i])
	}
	s.pages, s.cached = s.pages[:0], 0
}

// key names the content of the sequence's i-th page, whose tokens are known.
func (s *Sequence) key(i int) pageKey {
	k := pageKey{ids: [tensor.PageSize]int32(s.ids[i*tensor.PageSize:])}
	if i > 0 {
		k.parent = s.engine.pool.pages[s.pages[i-1]].serial
	}
	return k
}

// adopt takes over pages that others computed for the same prefix. The last
// token stays to be computed, for its logits.
func (s *Sequence) adopt() {
	for s.cached%tensor.PageSize == 0 && s.cached+tensor.PageSize < len(s.ids) {
		n, ok := s.engine.pool.find(s.key(len(s.pages)))
		if !ok {
			return
		}
		s.pages = append(s.pages, n)
		s.cached += tensor.PageSize
	}
}

// advance marks count more positions as cached and registers the pages that
// they filled. The engine is locked.
func (s *Sequence) advance(count int) {
	first := s.cached / tensor.PageSize
	s.cached += count
	for i := first; i < s.cached/tensor.PageSize; i++ {
		s.pages[i] = s.engine.pool.register(s.pages[i], s.key(i))
	}
}

// pagesFor is how many pages hold n positions.
func pagesFor(n int) int { return (n + tensor.PageSize - 1) / tensor.PageSize }

func (e *Engine) tooLong(tokens int) error {
	return fmt.Errorf("%w: %d tokens, context %d", ErrTooLong, tokens, e.config.Context)
}
