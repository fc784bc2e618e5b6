package runtime

import "time"

// Stats counts an engine's work. A step's time is shared among its rows in
// equal parts; tokens computed again after an eviction count again.
type Stats struct {
	PrefillTokens, DecodeTokens   int64
	PrefillSeconds, DecodeSeconds float64
	Preemptions                   int64 // running sequences that lost their pages
}

// Stats returns the counts since the engine was opened. Tokens per second of
// decoding are DecodeTokens/DecodeSeconds.
func (e *Engine) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stats
}

func (s *Stats) add(st *step, took time.Duration) {
	rows, decoded := len(st.batch.IDs), st.decoded
	s.DecodeTokens += int64(decoded)
	s.PrefillTokens += int64(rows - decoded)
	s.DecodeSeconds += took.Seconds() * float64(decoded) / float64(rows)
	s.PrefillSeconds += took.Seconds() * float64(rows-decoded) / float64(rows)
}
