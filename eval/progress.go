package eval

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/internal/amount"
	"github.com/coderl/cr/sandbox"
)

// Progress is how far a run is.
type Progress struct {
	Done, Total     int     // samples, those of earlier sessions included
	Passed, Scored  int     // of them; Passed/Scored is the pass rate so far
	Infra           int     // infra_errors of this session
	Tokens          int64   // sampled in this session
	TokensPerSecond float64 // of late, see speedometer
	Elapsed         time.Duration
	Left            time.Duration // estimate; 0: not known yet
}

// tracker counts a run's progress and tells the caller.
type tracker struct {
	report   func(Progress)
	notice   func(string)
	started  time.Time
	work     int // samples of this session
	problems int
	budget   int // most tokens of a sample
	tokens   atomic.Int64
	live     agent.Counter // nil: tokens are counted turn by turn
	liveBase int64

	mu        sync.Mutex
	speed     speedometer
	progress  Progress
	session   int // samples finished in this session
	estimated bool
}

func newTracker(c Config, d Deps, total, problems, work int) *tracker {
	t := &tracker{
		report: d.Progress, notice: d.Notice, started: time.Now(),
		work: work, problems: problems, budget: c.Budgets.Tokens,
		// Without a model there is no speed to measure.
		estimated: d.Programs != nil,
	}
	t.progress.Total = total
	if t.report == nil {
		t.report = func(Progress) {}
	}
	if t.notice == nil {
		t.notice = func(string) {}
	}
	return t
}

// meter is ep with its sampled tokens counted.
func (t *tracker) meter(ep agent.Endpoint) agent.Endpoint {
	if live, ok := ep.(agent.Counter); ok {
		t.live, t.liveBase = live, live.Sampled()
		return ep
	}
	return metered{ep, &t.tokens}
}

// known counts a sample of an earlier session.
func (t *tracker) known(r record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(r)
}

// done counts a sample of this session.
func (t *tracker) done(r record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session++
	t.add(r)
	t.tell()
}

func (t *tracker) add(r record) {
	t.progress.Done++
	switch {
	case r.Sample.Verdict == sandbox.InfraError:
		t.progress.Infra++
	case !scored(r.Sample.Verdict): // the problem's fault, not an infra error
	case r.Sample.Passed:
		t.progress.Passed++
		t.progress.Scored++
	default:
		t.progress.Scored++
	}
}

// say gives the user a line between two calls of the progress.
func (t *tracker) say(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notice(line)
}

func (t *tracker) finished() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.progress.Done
}

// tick tells the progress every second until ctx ends.
func (t *tracker) tick(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			t.mu.Lock()
			t.tell()
			t.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// tell reports the progress. The tracker is locked, so that calls do not overlap.
func (t *tracker) tell() {
	p := t.progress
	p.Elapsed = time.Since(t.started)
	p.Tokens = t.tokens.Load()
	if t.live != nil {
		p.Tokens = t.live.Sampled() - t.liveBase
	}
	// Tokens that come a whole turn at a time say nothing about a few seconds.
	if t.live != nil {
		t.speed.add(p.Elapsed, p.Tokens)
		p.TokensPerSecond = t.speed.perSecond()
	} else if s := p.Elapsed.Seconds(); s > 0 {
		p.TokensPerSecond = float64(p.Tokens) / s
	}
	if t.session > 0 {
		p.Left = timeLeft(p.Elapsed, t.session, t.work)
	}
	t.estimate(p)
	t.report(p)
}

// timeLeft is the time that the rest of the work takes at the pace so far. The
// short samples are the first to finish. So those in the making count for
// nothing yet, as if they all began anew: the mean for durations that are cut
// off (the maximum likelihood under an exponential law).
func timeLeft(elapsed time.Duration, done, work int) time.Duration {
	return time.Duration(float64(elapsed) / float64(done) * float64(work-done))
}

// firstFew is how many samples must have finished to judge the rest by.
const firstFew = 3

// estimate gives, once, a first idea of the time a run takes. Before the first
// samples have finished, nothing is known of their length: the speed comes from
// the tokens that flow, and the line says what it makes of any length.
func (t *tracker) estimate(p Progress) {
	left := t.work - t.session
	switch {
	case t.estimated || left == 0 || p.Elapsed < flowFor:
	case t.session >= firstFew:
		t.estimated = true
		t.notice(fmt.Sprintf("about %s left: %s, %.0f tokens/s so far", roughly(p.Left), amount.Of(left, "sample"), p.TokensPerSecond))
	case t.session == 0 && t.live != nil && t.speed.steady():
		t.estimated = true
		t.notice(firstEstimate(left, t.problems, t.budget, p.TokensPerSecond))
	}
}

// firstEstimate is the line for samples whose length is not known yet.
func firstEstimate(samples, problems, budget int, perSecond float64) string {
	const step = 100
	last := func(tokens int) string {
		return roughly(time.Duration(float64(samples*tokens) / perSecond * float64(time.Second)))
	}
	return fmt.Sprintf("%s of %s at %.0f tokens/s: %s for every %d tokens a sample takes, at most %s (%d tokens)",
		amount.Of(samples, "sample"), amount.Of(problems, "problem"), perSecond, last(step), step, last(budget), budget)
}

// roughly shows a duration in its two leading units.
func roughly(d time.Duration) string {
	days, hours, minutes := int(d.Hours())/24, int(d.Hours())%24, int(d.Minutes())%60
	switch {
	case days > 0:
		return fmt.Sprintf("%d d %d h", days, hours)
	case hours > 0:
		return fmt.Sprintf("%d h %d min", hours, minutes)
	case minutes > 0:
		return fmt.Sprintf("%d min %d s", minutes, int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d s", int(d.Seconds()))
}

// metered counts the tokens of an endpoint's turns.
type metered struct {
	agent.Endpoint
	tokens *atomic.Int64
}

func (m metered) Start(ctx context.Context, opening agent.Opening) (agent.Conversation, error) {
	conv, err := m.Endpoint.Start(ctx, opening)
	if err != nil {
		return nil, err
	}
	return meteredConversation{conv, m.tokens}, nil
}

type meteredConversation struct {
	agent.Conversation
	tokens *atomic.Int64
}

func (m meteredConversation) Next(ctx context.Context, limit int) (agent.Turn, error) {
	turn, err := m.Conversation.Next(ctx, limit)
	m.tokens.Add(int64(turn.Tokens))
	return turn, err
}
