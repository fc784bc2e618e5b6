package rl

import (
	"context"
	"sync"
)

// Gold is a problem's own solution, with the tests that it should pass.
type Gold struct {
	Row         int
	Solution    string // the fenced text
	GroundTruth []byte // as written into the data
}

// Verdict is what came of running a gold solution.
type Verdict struct {
	Reason Reason // "" when it passes
	Detail string
}

// Verifier runs gold solutions. An error means that it could not, which is no
// fault of the row. It is safe for concurrent use.
type Verifier interface {
	Verify(ctx context.Context, g Gold) (Verdict, error)
}

// verify drops the kept rows whose own solution does not pass.
func (b *build) verify(ctx context.Context, f *findings) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	verdicts := make([]Verdict, len(f.kept))
	next := make(chan int)
	var (
		running sync.WaitGroup
		mu      sync.Mutex
		done    int
	)
	for range b.options.workers() {
		running.Go(func() {
			for i := range next {
				v, err := b.verifyOne(ctx, f.kept[i])
				if err != nil {
					cancel(err)
					return
				}
				verdicts[i] = v
				mu.Lock()
				done++
				b.options.report(Progress{Stage: "verify", Done: done, Total: len(f.kept), Rows: f.rows})
				mu.Unlock()
			}
		})
	}
	feed(ctx, next, len(f.kept))
	running.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return f.filter(b, func(i int) *drop {
		if verdicts[i].Reason == "" {
			return nil
		}
		return &drop{verdicts[i].Reason, verdicts[i].Detail}
	})
}

func (b *build) verifyOne(ctx context.Context, k kept) (Verdict, error) {
	row, err := b.kept.read(k.place, nil)
	if err != nil {
		return Verdict{}, err
	}
	c := cutCells(row)
	return b.options.Verifier.Verify(ctx, Gold{Row: k.row, Solution: string(c.solution), GroundTruth: c.groundTruth})
}
