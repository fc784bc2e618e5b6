package reward

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coderl/cr/internal/retry"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/remote"
)

// Waits between two tries.
const (
	firstWait   = time.Second
	longestWait = 30 * time.Second
)

// mostCrashes is how often in a row a program may crash over the same answer: a
// lack of memory passes, an answer that it cannot bear does not.
const mostCrashes = 3

// errCrash: a reward of one's own was ended by a signal.
var errCrash = errors.New("the program crashed")

// Patience is how long what judges is waited for when it fails.
type Patience struct {
	Wait time.Duration     // from the first failure on
	Note func(line string) // told when a wait begins and when it ends; may be nil
	Step time.Duration     // first wait between two tries; 0: a second
	told *waiting
}

// NewPatience returns the patience of one run.
func NewPatience(wait time.Duration, note func(string)) Patience {
	return Patience{Wait: wait, Note: note, told: &waiting{}}
}

// waiting counts who waits, so that a judge that is away is told of once.
type waiting struct {
	mu sync.Mutex
	n  int
}

// do tries until it works, until what fails can never work, until it has crashed
// too often in a row, or until the wait is over; then the last error is returned.
func (p Patience) do(ctx context.Context, try func() error) error {
	var since time.Time
	crashes, told := 0, false
	for failures := 1; ; failures++ {
		err := try()
		if errors.Is(err, errCrash) {
			crashes++
		} else {
			crashes = 0
		}
		if err == nil || ctx.Err() != nil || final(err) {
			p.end(told, err)
			return err
		}
		if since.IsZero() {
			since = time.Now()
		}
		if time.Since(since) >= p.Wait || crashes == mostCrashes {
			p.end(told, err)
			return err
		}
		if !told {
			told = true
			p.begin(err)
		}
		if err := retry.Sleep(ctx, retry.Backoff(cmp.Or(p.Step, firstWait), longestWait, failures)); err != nil {
			p.end(true, err)
			return err
		}
	}
}

// final tells what no wait can mend: a reward that keeps to no protocol, a service
// that is closed to us, a program that it or this machine cannot run.
func final(err error) bool {
	return errors.Is(err, ErrBroken) || errors.Is(err, remote.ErrToken) || unfit(err)
}

func unfit(err error) bool {
	return errors.Is(err, remote.ErrUnfit) || errors.As(err, new(*sandbox.LanguageError))
}

// OfAnswer tells a failure that comes of the answer or its problem, and would come
// again, from one of what judges.
func OfAnswer(err error) bool { return unfit(err) || errors.Is(err, errCrash) }

func (p Patience) begin(err error) {
	if p.told == nil {
		return
	}
	p.told.mu.Lock()
	defer p.told.mu.Unlock()
	p.told.n++
	if p.told.n == 1 && p.Note != nil {
		p.Note(fmt.Sprintf("judging fails; trying again for up to %s: %v", p.Wait, err))
	}
}

func (p Patience) end(waited bool, err error) {
	if !waited || p.told == nil {
		return
	}
	p.told.mu.Lock()
	defer p.told.mu.Unlock()
	p.told.n--
	if p.told.n == 0 && err == nil && p.Note != nil {
		p.Note("judging works again")
	}
}

// Executor is an executor whose failures are waited out.
func (p Patience) Executor(exec sandbox.Executor) sandbox.Executor {
	return patientExecutor{exec, p}
}

type patientExecutor struct {
	sandbox.Executor
	patience Patience
}

// Run implements [sandbox.Executor].
func (e patientExecutor) Run(ctx context.Context, job sandbox.Job) (result sandbox.Result, err error) {
	err = e.patience.do(ctx, func() error {
		result, err = e.Executor.Run(ctx, job)
		return err
	})
	return result, err
}
