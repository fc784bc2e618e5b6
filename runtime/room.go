package runtime

import "fmt"

// fits tells whether the rest of a sequence finds room without preempting a
// running one; waiting ones make room. It keeps a newcomer from taking pages
// that it would lose again before it produced a token.
func (e *Engine) fits(s *Sequence) bool {
	need := pagesFor(len(s.ids)+1) - len(s.pages)
	if e.pool.available()+e.idlePages() < need {
		return false
	}
	for e.pool.available() < need {
		if !e.evictIdle(s) {
			return false
		}
	}
	return true
}

// idlePages is how many pages sequences hold that are not generating; shared
// ones count more than once.
func (e *Engine) idlePages() int {
	n := 0
	for _, s := range e.sequences {
		if s.request == nil {
			n += len(s.pages)
		}
	}
	return n
}

// reserve gives s the pages for rows more positions, if need be those of idle
// sequences and of younger running ones.
func (e *Engine) reserve(s *Sequence, rows int) bool {
	held := len(s.pages)
	for len(s.pages) < pagesFor(s.cached+rows) {
		n, ok := e.pool.take()
		if ok {
			s.pages = append(s.pages, n)
			continue
		}
		if e.evictIdle(s) || e.preempt(s) {
			continue
		}
		for _, n := range s.pages[held:] {
			e.pool.release(n)
		}
		s.pages = s.pages[:held]
		return false
	}
	return true
}

// evictIdle takes the pages of a sequence that is not generating: one that
// waits for a tool before one that only pauses, the youngest first.
func (e *Engine) evictIdle(but *Sequence) bool {
	var victim *Sequence
	for _, s := range e.sequences {
		if s == but || s.request != nil || len(s.pages) == 0 {
			continue
		}
		if victim == nil || s.waiting || !victim.waiting {
			victim = s
		}
	}
	if victim == nil {
		return false
	}
	e.evict(victim)
	return true
}

// preempt takes the pages of the youngest running sequence that is younger
// than s. It goes on later, from what is left of its prefix.
func (e *Engine) preempt(s *Sequence) bool {
	for i := len(e.active) - 1; i >= 0; i-- {
		other := e.active[i].seq
		if other.number <= s.number {
			return false
		}
		if len(other.pages) > 0 {
			e.evict(other)
			e.stats.Preemptions++
			return true
		}
	}
	return false
}

// tooSmall is the error of a sequence that does not fit alone.
func (e *Engine) tooSmall(s *Sequence) error {
	return fmt.Errorf("runtime: a sequence of %d tokens does not fit the key/value cache of %d tokens (%d MiB): give it more memory or fewer tokens",
		len(s.ids)+1, e.CacheTokens(), int64(len(e.pool.pages))*e.config.PageBytes()>>20)
}
