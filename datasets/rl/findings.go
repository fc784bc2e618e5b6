package rl

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// kept is a row that passed: its number, and where its record is.
type kept struct {
	row   int
	place place
	key   statementKey // with Options.Dedup
}

// goneRow is a dropped row's number, and where its line is.
type goneRow struct {
	row   int
	place place
}

// example is a dropped row for people to look at.
type example struct {
	row int
	drop
}

// maxExamples is how many examples of a reason are kept.
const maxExamples = 3

// batchResult is what became of a batch's rows, numbered within their chunk.
type batchResult struct {
	chunk, index int
	rows         int
	counts       map[Reason]int
	examples     []example
	kept         []kept
	gone         []goneRow
}

func (r *batchResult) count(row int, d *drop) {
	if r.counts[d.reason]++; r.counts[d.reason] <= maxExamples {
		r.examples = append(r.examples, example{row, *d})
	}
}

// results collects batches as they come.
type results struct {
	mu      sync.Mutex
	build   *build
	batches []*batchResult
	chunks  int
	rows    int
}

func (r *results) add(result *batchResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches = append(r.batches, result)
	r.rows += result.rows
	r.report()
}

func (r *results) chunkDone() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.chunks++
	r.report()
}

func (r *results) report() {
	r.build.options.report(Progress{Stage: "read", Done: r.chunks, Total: r.build.set.Chunks(), Rows: r.rows})
}

// findings are all batches' results in the source's order.
type findings struct {
	rows     int
	counts   map[Reason]int
	examples []example
	kept     []kept
	gone     []goneRow
}

// inOrder joins the batches and numbers rows through the whole source.
func (r *results) inOrder() *findings {
	slices.SortFunc(r.batches, func(a, b *batchResult) int {
		return cmp.Or(cmp.Compare(a.chunk, b.chunk), cmp.Compare(a.index, b.index))
	})
	f := &findings{counts: make(map[Reason]int)}
	base, chunk := 0, -1
	for i, batch := range r.batches {
		if batch.chunk != chunk {
			base, chunk = f.rows, batch.chunk
		}
		f.take(batch, base)
		r.batches[i] = nil // its rows now live in f
	}
	return f
}

func (f *findings) take(batch *batchResult, base int) {
	f.rows += batch.rows
	for _, k := range batch.kept {
		k.row += base
		f.kept = append(f.kept, k)
	}
	for _, g := range batch.gone {
		g.row += base
		f.gone = append(f.gone, g)
	}
	seen := maps.Clone(f.counts)
	for _, e := range batch.examples {
		e.row += base
		if seen[e.reason]++; seen[e.reason] <= maxExamples {
			f.examples = append(f.examples, e)
		}
	}
	for reason, n := range batch.counts {
		f.counts[reason] += n
	}
}

// filter keeps the kept rows for which test gives nil and drops the others.
func (f *findings) filter(b *build, test func(i int) *drop) error {
	var left []kept
	for i, k := range f.kept {
		d := test(i)
		if d == nil {
			left = append(left, k)
			continue
		}
		if f.counts[d.reason]++; f.counts[d.reason] <= maxExamples {
			f.examples = append(f.examples, example{k.row, *d})
		}
		if err := f.keepDropped(b, k, d); err != nil {
			return err
		}
	}
	f.kept = left
	slices.SortStableFunc(f.gone, func(a, b goneRow) int { return cmp.Compare(a.row, b.row) })
	return nil
}

// keepDropped moves a record to the spill of dropped rows.
func (f *findings) keepDropped(b *build, k kept, d *drop) error {
	if b.gone == nil {
		return nil
	}
	row, err := b.kept.read(k.place, nil)
	if err != nil {
		return err
	}
	line := appendDroppedRecord(nil, d, cutCells(row))
	at, err := b.gone.append(line)
	f.gone = append(f.gone, goneRow{k.row, place{at, len(line)}})
	return err
}
