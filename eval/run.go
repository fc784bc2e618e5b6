// Package eval runs benchmarks: it has a model write programs for a set of
// problems, judges them, and computes pass@k with its uncertainty. A run lives
// in a folder from which it can be resumed after any interruption.
package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/sandbox"
)

// ErrInterrupted: the context ended before all samples were done. What is done
// is in the run folder.
var ErrInterrupted = errors.New("interrupted")

// ErrRefused marks, without words of its own, what Run refuses before it begins:
// settings, data or programs that make no run.
var ErrRefused = errors.New("refused")

type refusal struct{ error }

func (r refusal) Unwrap() []error { return []error{ErrRefused, r.error} }

// Run runs a benchmark into the folder c.Out and returns its results. Samples
// are generated and judged side by side; each finished one is on disk before it
// counts, so that a run killed at any moment goes on with c.Resume and ends with
// the same samples.jsonl and results.json as one that was left alone.
//
// A sample that could not be generated or judged through no fault of the model
// is an infra_error: it does not count in the score, the results say how many
// there are, and a resumed run tries them again. When they follow one another
// without a success between, Run gives up with the last one's error.
func Run(ctx context.Context, c Config, d Deps) (results Results, err error) {
	if err := c.check(d); err != nil {
		return Results{}, refusal{err}
	}
	p, err := newPlan(c, d)
	if err != nil {
		return Results{}, refusal{err}
	}
	f, err := openFolder(c, c.settings(d, p), d.Set.Notes)
	if err != nil {
		return Results{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := newRunner(c, d, p, f)
	started := time.Now()
	if err := r.execute(ctx); err != nil {
		return Results{}, err
	}
	return f.finish(c, d, p, time.Since(started))
}

// runner is the state of a run in progress.
type runner struct {
	config  Config
	deps    Deps
	plan    plan
	folder  *folder
	maker   maker
	pending []key
	track   *tracker
	told    map[string]bool // causes of infra errors that the user has seen
}

func newRunner(c Config, d Deps, p plan, f *folder) *runner {
	r := &runner{config: c, deps: d, plan: p, folder: f, told: make(map[string]bool)}
	r.config.Concurrency = max(1, c.Concurrency)
	if r.config.Judges < 1 {
		r.config.Judges = 2
	}
	r.pending = slices.DeleteFunc(slices.Clone(p.keys), f.journal.done)
	r.track = newTracker(c, d, len(p.keys), len(p.problems), len(r.pending))
	r.maker = maker{config: c, deps: d, plan: p}
	if d.Endpoint != nil {
		r.maker.endpoint = r.track.meter(d.Endpoint)
	}
	return r
}

// execute generates and judges what is pending. Conversations and judging run
// in two stages of their own goroutines; this one keeps the journal.
func (r *runner) execute(ctx context.Context) error {
	if err := r.countDone(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	jobs, drafts, records := make(chan key), make(chan draft), make(chan outcome)
	var stages sync.WaitGroup
	stages.Go(func() { feed(ctx, r.pending, jobs) })
	stages.Go(func() {
		defer close(drafts)
		fanOut(r.config.Concurrency, func() { r.generate(ctx, jobs, drafts) })
	})
	stages.Go(func() {
		defer close(records)
		fanOut(r.config.Judges, func() { r.judge(ctx, drafts, records) })
	})
	stages.Go(func() { r.track.tick(ctx) })
	err := r.collect(ctx, cancel, records)
	cancel()
	stages.Wait()
	return err
}

// fanOut runs the same work in n goroutines and waits for them.
func fanOut(n int, work func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(work)
	}
	wg.Wait()
}

// feed hands out the pending samples in order: the samples of one problem follow
// one another, so that an engine can share their prompt.
func feed(ctx context.Context, pending []key, jobs chan<- key) {
	defer close(jobs)
	for _, k := range pending {
		select {
		case jobs <- k:
		case <-ctx.Done():
			return
		}
	}
}

func (r *runner) generate(ctx context.Context, jobs <-chan key, drafts chan<- draft) {
	for k := range jobs {
		d := r.maker.draft(ctx, k)
		select {
		case drafts <- d:
		case <-ctx.Done():
			return
		}
	}
}

func (r *runner) judge(ctx context.Context, drafts <-chan draft, records chan<- outcome) {
	for d := range drafts {
		// collect reads until the channel closes, so this cannot block for ever.
		records <- r.maker.judge(ctx, d)
	}
}

// collect journals the records as they come. Once a run is over, be it by the
// context, by a fatal error or by a row of infra errors, later records are
// dropped: they may be echoes of the end.
func (r *runner) collect(ctx context.Context, cancel func(), records <-chan outcome) error {
	var failure error
	inARow, most := 0, max(8, 2*r.config.Concurrency)
	for o := range records {
		if ctx.Err() != nil || failure != nil {
			continue
		}
		if o.err == nil {
			inARow = 0
		} else {
			inARow++
			r.tellCause(o.err)
		}
		failure = r.folder.journal.append(o.record)
		r.track.done(o.record)
		switch {
		case failure != nil:
		case errors.Is(o.err, agent.ErrFatal):
			failure = o.err
		case inARow >= most:
			failure = fmt.Errorf("gave up after %d samples in a row failed for reasons of ours; mend this and resume the run: %w", inARow, o.err)
		}
		if failure != nil {
			cancel()
		}
	}
	if failure == nil && ctx.Err() != nil && r.track.finished() < len(r.plan.keys) {
		return fmt.Errorf("%w with %d of %d samples done; resume the run in %s to go on", ErrInterrupted, r.track.finished(), len(r.plan.keys), r.config.Out)
	}
	return failure
}

// tellCause shows why a sample could not be judged, each cause once.
func (r *runner) tellCause(err error) {
	cause := err
	for next := errors.Unwrap(cause); next != nil; next = errors.Unwrap(cause) {
		cause = next
	}
	const most = 5 // of causes that each name another thing
	if r.told[cause.Error()] || len(r.told) == most {
		return
	}
	r.told[cause.Error()] = true
	r.track.say(err.Error())
}

// countDone tells the tracker about the samples of earlier sessions.
func (r *runner) countDone() error {
	for _, k := range r.plan.keys {
		if !r.folder.journal.done(k) {
			continue
		}
		rec, err := r.folder.journal.read(k)
		if err != nil {
			return err
		}
		r.track.known(rec)
	}
	return nil
}

// outcome is a finished sample; err says why it is an infra_error.
type outcome struct {
	record record
	err    error
}

// scored tells whether a sample counts in the score.
func scored(v sandbox.Verdict) bool {
	return v != sandbox.InfraError && v != sandbox.InvalidTask
}
