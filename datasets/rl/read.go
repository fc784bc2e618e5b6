package rl

import (
	"context"
	"sync"

	"github.com/coderl/cr/datasets/source"
)

// maxReaders bounds how many chunks are read at once: each holds a page of every
// column, which may be a whole row group.
const maxReaders = 4

// read judges every row of the source. Chunks are read in parallel and batches
// judged in parallel; the findings are put in the source's order at the end.
func (b *build) read(ctx context.Context) (*findings, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		workers = b.options.workers()
		batches = make(chan *source.Batch, workers)
		results = &results{build: b}
		reading sync.WaitGroup
		judging sync.WaitGroup
		next    = make(chan int)
	)
	for range min(maxReaders, workers, max(1, b.set.Chunks())) {
		reading.Go(func() {
			for chunk := range next {
				if err := b.set.Read(ctx, chunk, sendTo(ctx, batches)); err != nil {
					cancel(err)
					return
				}
				results.chunkDone()
			}
		})
	}
	for range workers {
		judging.Go(func() {
			w := worker{build: b, rules: newRules(b.options)}
			for batch := range batches {
				// Once cancelled, batches are only drained.
				if ctx.Err() != nil {
					batch.Release()
					continue
				}
				result, err := w.judge(batch)
				batch.Release()
				if err != nil {
					cancel(err)
					continue
				}
				results.add(result)
			}
		})
	}
	feed(ctx, next, b.set.Chunks())
	reading.Wait()
	close(batches)
	judging.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return results.inOrder(), nil
}

func feed(ctx context.Context, next chan<- int, chunks int) {
	defer close(next)
	for chunk := range chunks {
		select {
		case next <- chunk:
		case <-ctx.Done():
			return
		}
	}
}

func sendTo(ctx context.Context, batches chan<- *source.Batch) func(*source.Batch) error {
	return func(batch *source.Batch) error {
		select {
		case batches <- batch:
			return nil
		case <-ctx.Done():
			batch.Release()
			return context.Cause(ctx)
		}
	}
}

// worker judges batches, one after another.
type worker struct {
	build *build
	rules *rules
	rows  []byte // records of the batch
	gone  []byte // dropped rows of the batch
}

func (w *worker) judge(batch *source.Batch) (*batchResult, error) {
	result := &batchResult{chunk: batch.Chunk, index: batch.Index, rows: batch.Len(), counts: make(map[Reason]int)}
	w.rows, w.gone = w.rows[:0], w.gone[:0]
	for i := range batch.Len() {
		row, err := batch.Row(i)
		if err != nil {
			return result, err
		}
		if record, d := w.rules.apply(row); d != nil {
			w.drop(result, batch.First+i, d, row)
		} else {
			w.keep(result, batch.First+i, record)
		}
	}
	return result, w.flush(result)
}

func (w *worker) keep(result *batchResult, row int, r record) {
	start := len(w.rows)
	w.rows = appendRecord(w.rows, r)
	k := kept{row: row, place: place{int64(start), len(w.rows) - start}}
	if w.build.options.Dedup {
		k.key = keyOf(r.prompt)
	}
	result.kept = append(result.kept, k)
}

func (w *worker) drop(result *batchResult, row int, d *drop, fields []source.Field) {
	result.count(row, d)
	if w.build.gone == nil {
		return
	}
	start := len(w.gone)
	w.gone = appendDropped(w.gone, d, fields)
	result.gone = append(result.gone, goneRow{row, place{int64(start), len(w.gone) - start}})
}

// flush writes the batch's rows to the spills and turns places within the batch
// into places within the spill.
func (w *worker) flush(result *batchResult) error {
	at, err := w.build.kept.append(w.rows)
	if err != nil {
		return err
	}
	for i := range result.kept {
		result.kept[i].place.offset += at
	}
	if w.build.gone == nil {
		return nil
	}
	if at, err = w.build.gone.append(w.gone); err != nil {
		return err
	}
	for i := range result.gone {
		result.gone[i].place.offset += at
	}
	return nil
}
