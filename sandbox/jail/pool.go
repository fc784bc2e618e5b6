package jail

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"runtime"
	"sync"

	"github.com/coderl/cr/sandbox/jail/cgroup"
)

// jobsPerLane bounds a lane's life, so that fragmentation and counters in it do
// too.
const jobsPerLane = 5000

// Config says how to build a pool.
type Config struct {
	Workers int
	Tier    Tier
	Python  *Python
	Groups  *cgroup.Parent // nil without control groups
}

// Pool keeps lanes ready: one for each worker, and a spare that replaces a
// burned lane without a wait.
type Pool struct {
	cfg    Config
	set    string        // names this pool's control groups
	base   int           // its first range of uids
	slots  chan struct{} // held while a job runs
	ready  chan *lane
	want   chan struct{} // one token for each lane to be started
	broken chan struct{} // closed when lanes can no longer be started
	fault  error         // why; read after broken is closed
	closed chan struct{}
	done   sync.WaitGroup
	mu     sync.Mutex
	lanes  map[*lane]bool // all that are alive
	sweep  *janitor       // nil where all ends with the lanes
}

// NewPool starts the lanes and waits for the first.
func NewPool(cfg Config) (*Pool, error) {
	n := cfg.Workers + 1
	p := &Pool{
		cfg:    cfg,
		set:    cgroup.Set(rand.Text()[:8]),
		base:   mathrand.IntN(uidRanges),
		slots:  make(chan struct{}, cfg.Workers),
		ready:  make(chan *lane, n),
		want:   make(chan struct{}, n),
		broken: make(chan struct{}),
		closed: make(chan struct{}),
		lanes:  map[*lane]bool{},
	}
	if base := p.sweepBase(); cfg.Groups != nil || base >= 0 {
		var err error
		if p.sweep, err = startJanitor(p.set, base); err != nil {
			return nil, err
		}
	}
	for range n {
		p.want <- struct{}{}
	}
	p.done.Go(p.spawn)
	l, err := p.take(context.Background())
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.ready <- l
	return p, nil
}

// sweepBase is the base of uids that a janitor must look for, -1 if namespaces
// bound all lanes.
func (p *Pool) sweepBase() int {
	if p.cfg.Tier != T3 {
		return -1
	}
	return p.base
}

// maxStartFailures is how many lanes in a row may fail to start.
const maxStartFailures = 3

// spawn starts lanes, always on one thread that lives until Close: the kernel
// kills a lane when the thread that started it ends.
func (p *Pool) spawn() {
	runtime.LockOSThread() // never unlocked: the thread ends with the pool
	var starts sync.WaitGroup
	defer starts.Wait()
	failures := make(chan error, cap(p.want))
	failed := 0
	for number := 0; ; {
		select {
		case <-p.closed:
			return
		case err := <-failures:
			if err == nil {
				failed = 0
				continue
			}
			if failed++; failed >= maxStartFailures {
				p.fault = err
				close(p.broken)
				<-p.closed // lanes that still live depend on this thread
				return
			}
			p.want <- struct{}{}
		case <-p.want:
			l, err := p.startLane(number)
			if err != nil {
				failures <- err
				continue
			}
			number++
			p.track(l, true)
			starts.Go(func() { failures <- p.admit(l) })
		}
	}
}

// admit waits until a lane serves and makes it available.
func (p *Pool) admit(l *lane) error {
	if err := l.await(); err != nil {
		p.track(l, false)
		return errors.Join(err, l.stop())
	}
	p.ready <- l // has room: there are never more lanes than its capacity
	return nil
}

// track keeps the set of living lanes; a lane that starts while the pool is
// closing is killed by Close or here.
func (p *Pool) track(l *lane, alive bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if alive {
		p.lanes[l] = true
	} else {
		delete(p.lanes, l)
	}
}

// take waits for a ready lane.
func (p *Pool) take(ctx context.Context) (*lane, error) {
	select {
	case l := <-p.ready:
		return l, nil
	default:
	}
	select {
	case l := <-p.ready:
		return l, nil
	case <-p.broken:
		return nil, fmt.Errorf("no lane can be started: %w", p.fault)
	case <-p.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// burn destroys a lane and orders another.
func (p *Pool) burn(l *lane) error {
	p.track(l, false)
	err := l.stop()
	p.want <- struct{}{} // has room: one token for each missing lane
	return err
}

// Run runs a job in the next free lane.
func (p *Pool) Run(ctx context.Context, job Job) (Outcome, error) {
	select {
	case p.slots <- struct{}{}:
	case <-p.closed:
		return Outcome{}, ErrClosed
	case <-ctx.Done():
		return Outcome{}, ctx.Err()
	}
	defer func() { <-p.slots }()
	l, err := p.take(ctx)
	if err != nil {
		return Outcome{}, err
	}
	l.jobs++
	out, clean, err := l.run(ctx, p.cfg.Tier, &job)
	if clean && err == nil && l.jobs < jobsPerLane {
		p.ready <- l
		return out, nil
	}
	return out, errors.Join(err, p.burn(l))
}

// Close kills every lane and waits for them. Jobs that are running fail.
func (p *Pool) Close() error {
	p.mu.Lock()
	select {
	case <-p.closed:
		p.mu.Unlock()
		return nil
	default:
	}
	close(p.closed)
	p.mu.Unlock()
	var failed error
	kill := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for l := range p.lanes {
			failed = errors.Join(failed, l.stop())
			delete(p.lanes, l)
		}
	}
	kill() // wakes those that wait for a lane to become ready
	p.done.Wait()
	kill()
	if p.sweep != nil {
		failed = errors.Join(failed, p.sweep.close())
	}
	return failed
}
