package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Workers look for the next job this many times before they park, so that the
// hundreds of small operations of one decode step find them awake. The loop
// yields to the Go scheduler every spinYield looks; all in all it lasts some
// tens of microseconds.
const (
	spinLooks = 4000
	spinYield = 64
)

// job is one operation cut into chunks. Whoever comes takes the next chunk, so a
// worker that wakes late, or never, delays nobody.
type job struct {
	run    func(chunk int)
	chunks int64
	next   atomic.Int64 // the next chunk to take
	done   atomic.Int64 // chunks finished
	waiter chan struct{}
	asleep atomic.Bool // the owner waits on waiter
}

// work takes chunks until none is left.
func (j *job) work() {
	for i := j.next.Add(1) - 1; i < j.chunks; i = j.next.Add(1) - 1 {
		j.run(int(i))
		if j.done.Add(1) == j.chunks && j.asleep.CompareAndSwap(true, false) {
			j.waiter <- struct{}{}
		}
	}
}

// wait returns when every chunk is finished: it spins for a while, since the
// others are already at their last chunks, and then sleeps.
func (j *job) wait() {
	for i := range spinLooks {
		if j.done.Load() == j.chunks {
			return
		}
		if i%spinYield == spinYield-1 {
			runtime.Gosched()
		}
	}
	j.asleep.Store(true)
	if j.done.Load() == j.chunks && j.asleep.CompareAndSwap(true, false) {
		return
	}
	<-j.waiter
}

// pool is threads-1 goroutines beside the caller's own.
type pool struct {
	threads int
	current atomic.Pointer[job]
	parked  []parking
	stop    atomic.Bool
	wg      sync.WaitGroup
}

// parking is where one worker sleeps.
type parking struct {
	asleep atomic.Bool
	wake   chan struct{}
}

func newPool(threads int) *pool {
	p := &pool{threads: max(1, threads)}
	p.parked = make([]parking, p.threads-1)
	for i := range p.parked {
		p.parked[i].wake = make(chan struct{}, 1)
		p.wg.Add(1)
		go p.worker(&p.parked[i])
	}
	return p
}

func (p *pool) worker(bed *parking) {
	defer p.wg.Done()
	var last *job
	for looks := 1; !p.stop.Load(); looks++ {
		if j := p.current.Load(); j != nil && j != last {
			last, looks = j, 0
			j.work()
		}
		if looks%spinYield == spinYield-1 {
			runtime.Gosched()
		}
		if looks >= spinLooks {
			p.park(bed, last)
			looks = 0
		}
	}
}

// park sleeps until there is a job other than last. The flag goes up before the
// last look, and the owner publishes before it reads the flag, so that one of
// the two sees the other.
func (p *pool) park(bed *parking, last *job) {
	bed.asleep.Store(true)
	if p.current.Load() != last || p.stop.Load() {
		if bed.asleep.CompareAndSwap(true, false) {
			return
		}
	}
	<-bed.wake
}

// do runs chunks 0..n-1 on all threads and returns when they are finished.
func (p *pool) do(n int, run func(chunk int)) {
	if p.threads == 1 || n == 1 {
		for i := range n {
			run(i)
		}
		return
	}
	j := &job{run: run, chunks: int64(n), waiter: make(chan struct{}, 1)}
	p.current.Store(j)
	p.wakeAll(n - 1)
	j.work()
	j.wait()
}

// wakeAll wakes at most n parked workers.
func (p *pool) wakeAll(n int) {
	for i := range p.parked {
		if n == 0 {
			return
		}
		if b := &p.parked[i]; b.asleep.CompareAndSwap(true, false) {
			b.wake <- struct{}{}
			n--
		}
	}
}

// close stops the workers and waits for them.
func (p *pool) close() {
	p.stop.Store(true)
	p.wakeAll(len(p.parked))
	p.wg.Wait()
}

// grain is the least work worth handing to another thread. Its unit is about
// half a nanosecond: an element of a row operation, or eight multiply-adds.
const grain = 6_000

// split runs fn over [0, units) in ranges. A range is worth a hand-over (cost is
// the work of one unit), is a multiple of align units, and there are some four
// for each thread, so that a thread slowed by the rest of the machine holds up
// little.
func (p *pool) split(units, align, cost int, fn func(lo, hi int)) {
	if units == 0 {
		return
	}
	size := max(units/(4*p.threads), grain/max(1, cost), 1)
	size = (size + align - 1) / align * align
	p.do((units+size-1)/size, func(chunk int) {
		fn(chunk*size, min(units, (chunk+1)*size))
	})
}
