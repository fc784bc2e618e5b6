package runtime

import (
	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
)

// step is one pass of the model over rows of several requests. Its memory is
// reused from step to step.
type step struct {
	batch   model.Batch
	parts   []part
	claimed map[pageKey]struct{} // pages that a part is filling
	decoded int                  // rows of one new token
	room    int                  // prefill rows left
	outs    int                  // score rows left
}

// part is one request's rows in a step.
type part struct {
	request  *request
	start    int // position of the first row
	rows     int
	outs     int // the last outs of rows have logits
	firstOut int // in batch.Out
	decode   bool
}

// plan chooses the rows of the next step, oldest sequences first: one row for
// each that is decoding, and prefill chunks up to the budget, so that neither
// starves the other. The engine is locked.
func (e *Engine) plan() *step {
	st := &e.step
	st.batch = model.Batch{
		IDs: st.batch.IDs[:0], Seq: st.batch.Seq[:0], Pos: st.batch.Pos[:0],
		Pages: st.batch.Pages[:0], Out: st.batch.Out[:0],
	}
	st.parts, st.decoded, st.room, st.outs = st.parts[:0], 0, e.options.PrefillChunk, scoreRows
	clear(st.claimed)
	// Preemption and failure change e.active only at or behind i.
	for i := 0; i < len(e.active) && i < e.options.MaxBatch; i++ {
		r := e.active[i]
		rows := e.admit(st, r, i == 0)
		if rows == 0 {
			continue
		}
		if !e.reserve(r.seq, rows) {
			if i == 0 {
				e.finish(r, "", e.tooSmall(r.seq))
				i--
			}
			continue
		}
		st.add(r, rows)
	}
	return st
}

// admit returns how many rows of r the step takes; 0: none this time.
func (e *Engine) admit(st *step, r *request, oldest bool) int {
	s := r.seq
	fresh := len(s.pages) == 0
	if !r.scoring {
		s.adopt()
	}
	if fresh && !oldest && !e.fits(s) {
		e.evict(s)
		return 0
	}
	pending := len(s.ids) - s.cached
	if pending == 1 && !r.scoring {
		return 1
	}
	if st.isClaimed(r) {
		return 0
	}
	rows := min(pending, st.room)
	if r.scoring {
		rows = min(rows, st.outs)
	}
	// Chunks end where pages end, so that a follower can take over whole pages.
	if end := s.cached + rows; rows < pending && end-end%tensor.PageSize > s.cached {
		rows -= end % tensor.PageSize
	}
	return rows
}

// isClaimed tells whether another request of this step is filling the very page
// that r needs next: r then waits a step and takes it over.
func (st *step) isClaimed(r *request) bool {
	s := r.seq
	i := s.cached / tensor.PageSize
	if r.scoring || (i+1)*tensor.PageSize >= len(s.ids) {
		return false
	}
	key := s.key(i)
	_, taken := st.claimed[key]
	if taken && s.cached%tensor.PageSize == 0 {
		return true
	}
	st.claimed[key] = struct{}{}
	return false
}

// add puts the next rows of r into the step.
func (st *step) add(r *request, rows int) {
	s, b := r.seq, &st.batch
	first, pending := len(b.IDs), len(s.ids)-s.cached
	p := part{request: r, start: s.cached, rows: rows, firstOut: len(b.Out), decode: pending == 1 && len(r.ids) > 0}
	for i := range rows {
		b.IDs = append(b.IDs, s.ids[s.cached+i])
		b.Seq = append(b.Seq, int32(len(b.Pages)))
		b.Pos = append(b.Pos, int32(s.cached+i))
	}
	b.Pages = append(b.Pages, s.pages)
	switch {
	case r.scoring:
		p.outs = rows
		st.outs -= rows
	case s.cached+rows == len(s.ids):
		p.outs = 1
	}
	for i := rows - p.outs; i < rows; i++ {
		b.Out = append(b.Out, int32(first+i))
	}
	if p.decode {
		st.decoded++
	}
	if pending > 1 || r.scoring {
		st.room -= rows
	}
	st.parts = append(st.parts, p)
}
