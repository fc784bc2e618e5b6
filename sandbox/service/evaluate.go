package service

import (
	"context"
	"regexp"
	"sync"
	"time"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// maxParallel bounds the cases of one evaluation that run, or wait to run, at a
// time.
const maxParallel = 16

// solutionClass finds the class whose method a call may mean.
var solutionClass = regexp.MustCompile(`(?m)^class[ \t]+Solution\b`)

// evaluation is one program being judged on its cases.
type evaluation struct {
	service *Service
	guest   *visit
	config  testConfig
	code    string
	cases   []testCase

	mu      sync.Mutex
	rows    []*testResponse // nil: not judged
	next    int             // the first case that nobody has taken
	failed  bool            // some case has failed
	left    time.Duration   // of the total time limit, in time of one slot
	expired bool
	kept    int   // bytes of output in the rows
	err     error // the client has gone
}

// evaluate judges code on all cases, or up to the first that fails.
//
// The total time limit counts only the time that programs ran, as if this
// evaluation had the service to itself: neither queueing nor the company may
// change a verdict.
func (s *Service) evaluate(ctx context.Context, guest *visit, config testConfig, code string, cases []testCase) ([]testResponse, error) {
	parallel := min(s.cfg.Workers, maxParallel, len(cases))
	e := &evaluation{
		service: s, guest: guest, config: config, code: code, cases: cases,
		rows: make([]*testResponse, len(cases)), left: config.extra.totalTime * time.Duration(parallel),
	}
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() { e.work(ctx) })
	}
	workers.Wait()
	if e.err != nil {
		return nil, e.err
	}
	return e.finish(), nil
}

// work judges cases until there is none left to take. A case that has been
// taken is always judged, so that the answer is the same whoever was faster.
func (e *evaluation) work(ctx context.Context) {
	for {
		i, ok := e.take()
		if !ok {
			return
		}
		row, spent, err := e.judge(ctx, i)
		e.put(i, row, spent, err)
	}
}

func (e *evaluation) take() (i int, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil || e.expired || e.next == len(e.cases) || e.failed && !e.config.extra.runAll {
		return 0, false
	}
	e.next++
	return e.next - 1, true
}

func (e *evaluation) put(i int, row *testResponse, spent time.Duration, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.err = err
		return
	}
	e.left -= spent
	e.expired = e.expired || e.left <= 0 || row == nil
	if e.rows[i] = row; row == nil {
		return
	}
	e.bound(row)
	if !row.Passed {
		e.failed = true
	}
}

// bound cuts what a row repeats of its program when all of them together would be too much, for this
// answer or for the house.
func (e *evaluation) bound(row *testResponse) {
	r := row.ExecInfo.RunResult
	if r == nil {
		return
	}
	n := len(r.Stdout) + len(r.Stderr)
	if n > shownCase && (n > keptTotal-e.kept || !e.guest.grow(int64(n))) {
		r.Stdout, r.Stderr = middleCut(r.Stdout), middleCut(r.Stderr)
	}
	e.kept += len(r.Stdout) + len(r.Stderr)
}

// remaining is what is left of the total time for one more run.
func (e *evaluation) remaining() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return min(e.left, e.config.extra.totalTime)
}

// judge judges case i. No row means that the total time ran out.
func (e *evaluation) judge(ctx context.Context, i int) (row *testResponse, spent time.Duration, err error) {
	c, s := &e.cases[i], e.service
	if c.broken != "" {
		r := brokenRow(c)
		return &r, 0, nil
	}
	if err := s.acquire(ctx, e.guest.client); err != nil {
		return nil, 0, err
	}
	defer s.gate.release()
	left := e.remaining()
	if left <= 0 {
		return nil, 0, nil
	}
	task := e.task(c)
	full := max(2*task.Limits.CPU, task.Limits.CPU+time.Second)
	task.Limits.Wall = min(full, left)
	result, err := s.judge.JudgeTest(ctx, e.code, task, c.test)
	if err != nil {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		r := oursRow(c, s.fault(ctx, "evaluate", err))
		return &r, 0, nil
	}
	if result.Verdict == sandbox.TLE && left < full && result.CPU <= task.Limits.CPU {
		return nil, result.Run.Wall, nil
	}
	s.metrics.verdicts.WithLabelValues(string(result.Verdict)).Inc()
	r := rowOf(c, &result, e.config.extra.fullCase)
	return &r, result.Run.Wall, nil
}

// task is how case c is judged. LiveCodeBench's imports are for methods of its
// class Solution; other programs bring their own, and a name of theirs that is
// missing must not be found among ours.
func (e *evaluation) task(c *testCase) judge.Task {
	method := c.kind == functionCall && solutionClass.MatchString(e.code)
	return judge.Task{
		Language:    e.config.language,
		Method:      c.fn,
		Function:    !method,
		Plain:       !method,
		Mode:        e.config.extra.mode,
		Checker:     e.config.extra.checker,
		Limits:      e.service.limits(e.config.runTime, e.config.memory),
		CompileTime: e.config.compileTime,
	}
}

// finish puts the rows in the order of the cases: up to the first failure where
// that ends an evaluation, else all, with those that the total time did not
// reach.
func (e *evaluation) finish() []testResponse {
	rows := make([]testResponse, 0, len(e.cases))
	for i, row := range e.rows {
		switch {
		case row != nil:
			rows = append(rows, *row)
			if !row.Passed && !e.config.extra.runAll {
				return rows
			}
		case e.expired:
			rows = append(rows, oursRow(&e.cases[i], allTimed))
		}
	}
	return rows
}
