package examples

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/coderl/cr/datasets/sft"
	"github.com/coderl/cr/runtime/chat"
)

// Set is a data set's examples, in the order of its rows.
type Set struct {
	Examples []Example
	Counts   Counts
}

// Load makes examples of all rows of parquet and JSONL files. A row that the
// options do not let pass, and a file that cannot be read, is an error that
// names it; a set without examples is [ErrNoExamples].
func Load(ctx context.Context, files []string, model *chat.Model, o Options) (Set, error) {
	m, err := NewMaker(model, o)
	if err != nil {
		return Set{}, err
	}
	c := collector{options: m.options, set: Set{Counts: Counts{Dropped: map[Reason]int{}}}}
	if err := each(ctx, files, m.options, m.verdict, c.add); err != nil {
		return Set{}, err
	}
	if len(c.set.Examples) == 0 {
		return c.set, ErrNoExamples
	}
	return c.set, nil
}

// verdict is what became of one row.
type verdict struct {
	example Example
	altered error
	err     error
}

func (m *Maker) verdict(row sft.Row) verdict {
	var v verdict
	v.example, v.altered, v.err = m.Make(row)
	return v
}

// collector applies the policies to rows in order.
type collector struct {
	options Options
	set     Set
}

func (c *collector) add(v verdict) error {
	counts := &c.set.Counts
	counts.Rows++
	err := c.judge(&v)
	var row *RowError
	switch {
	case errors.As(err, &row) && row.Reason == Untrained,
		errors.As(err, &row) && row.Reason == OverLong && c.options.TooLong == TooLongDrop,
		errors.As(err, &row) && row.Reason != OverLong && c.options.Faulty != FaultyError:
		counts.Dropped[row.Reason]++
	case err != nil:
		return err
	default:
		counts.Examples++
		counts.Tokens += int64(len(v.example.IDs))
		counts.Targets += int64(v.example.Targets())
		c.set.Examples = append(c.set.Examples, v.example)
	}
	if c.options.Progress != nil {
		c.options.Progress(counts.Rows, counts.Rows-counts.Examples)
	}
	return nil
}

// judge says why a row is no example; it may shorten the example.
func (c *collector) judge(v *verdict) error {
	if v.err != nil {
		return v.err
	}
	e, limit := &v.example, c.options.MaxLength
	c.set.Counts.Longest = max(c.set.Counts.Longest, len(e.IDs))
	if v.altered != nil && c.options.Faulty != FaultyKeep {
		return v.altered
	}
	cut := limit > 0 && len(e.IDs) > limit
	if cut && c.options.TooLong != TooLongTruncate {
		return &RowError{e.Name, OverLong, fmt.Errorf("%d tokens, more than %d", len(e.IDs), limit)}
	}
	if cut {
		e.truncate(limit)
	}
	if len(e.Trained) == 0 {
		return &RowError{e.Name, Untrained, errors.New("no token is trained")}
	}
	if cut {
		c.set.Counts.Truncated++
	}
	if v.altered != nil {
		c.set.Counts.Altered++
	}
	return nil
}

// truncate leaves out what is behind the first n tokens.
func (e *Example) truncate(n int) {
	e.IDs = e.IDs[:n]
	kept := e.Trained[:0:0]
	for _, s := range e.Trained {
		if s.To = min(s.To, n); s.From < s.To {
			kept = append(kept, s)
		}
	}
	e.Trained = kept
}

// each works on rows in parallel and gives the results to use in the rows'
// order.
func each[T any](ctx context.Context, files []string, o Options, work func(sft.Row) T, use func(T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	threads := o.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	type job struct {
		row    sft.Row
		result chan T
	}
	jobs, order := make(chan job), make(chan job, 4*threads)
	var workers sync.WaitGroup
	for range threads {
		workers.Go(func() {
			for j := range jobs {
				j.result <- work(j.row)
			}
		})
	}
	var readErr error
	workers.Go(func() {
		defer close(order)
		defer close(jobs)
		readErr = sft.Read(ctx, files, o.Columns, func(row sft.Row) error {
			j := job{row, make(chan T, 1)}
			for _, queue := range []chan job{order, jobs} {
				select {
				case queue <- j:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	})
	var useErr error
	for j := range order {
		if useErr != nil {
			continue
		}
		select {
		case result := <-j.result:
			if useErr = use(result); useErr != nil {
				cancel()
			}
		case <-ctx.Done():
			useErr = ctx.Err()
		}
	}
	workers.Wait()
	if useErr != nil {
		return useErr
	}
	return readErr
}
