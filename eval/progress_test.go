package eval

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/sandbox"
)

// TestSpeedLeavesThePromptsOut: a minute of reading prompts must not make the
// sampling look slow, nor a fast beginning the rest fast.
func TestSpeedLeavesThePromptsOut(t *testing.T) {
	var s speedometer
	for second := range 60 {
		s.add(time.Duration(second)*time.Second, 0)
	}
	if s.perSecond() != 0 || s.steady() {
		t.Fatalf("%.1f tokens/s before the first token", s.perSecond())
	}
	for second := range 6 {
		s.add(time.Duration(60+second)*time.Second, int64(1+100*second))
	}
	if s.perSecond() != 100 || !s.steady() {
		t.Errorf("%.1f tokens/s, steady %v; want 100, true", s.perSecond(), s.steady())
	}
	for second := range 20 {
		s.add(time.Duration(66+second)*time.Second, int64(511+10*second))
	}
	if s.perSecond() != 10 {
		t.Errorf("%.1f tokens/s; want 10, the speed of late", s.perSecond())
	}
}

// sampling is an endpoint that counts its tokens as they come.
type sampling struct {
	agent.Endpoint
	tokens int64
}

func (s *sampling) Sampled() int64 { return s.tokens }

func TestFirstEstimateWaitsForTokens(t *testing.T) { synctest.Test(t, firstEstimateWaitsForTokens) }

func firstEstimateWaitsForTokens(t *testing.T) {
	var lines []string
	model := &sampling{Endpoint: &keyed{}}
	c := Config{Budgets: agent.Budgets{Tokens: 1000}}
	tr := newTracker(c, Deps{Notice: func(l string) { lines = append(lines, l) }}, 20, 5, 20)
	tr.meter(model)
	after := func(pause time.Duration, tokens int64) {
		time.Sleep(pause)
		model.tokens = tokens
		tr.tell()
	}
	for range 40 {
		after(time.Second, 0)
	}
	if len(lines) > 0 {
		t.Fatalf("estimated without a token: %q", lines)
	}
	for second := range 10 {
		after(time.Second, int64(1+200*second))
	}
	// 20 samples × 100 tokens at 200 a second, and × 1000 at most.
	want := "20 samples of 5 problems at 200 tokens/s: 10 s for every 100 tokens a sample takes, at most 1 min 40 s (1000 tokens)"
	if len(lines) != 1 || lines[0] != want {
		t.Errorf("got %q, want %q once", lines, want)
	}
}

func TestTimeLeft(t *testing.T) {
	for _, c := range []struct {
		seconds    float64
		done, work int
		want       float64
	}{{10, 4, 20, 40}, {7, 3, 4, 7.0 / 3}, {20, 20, 20, 0}} {
		got := timeLeft(time.Duration(c.seconds*float64(time.Second)), c.done, c.work).Seconds()
		near(t, "seconds left", got, c.want, 1e-6)
	}
}

// TestOneShortSampleIsNoMeasure: the notice comes once, after the first few.
func TestOneShortSampleIsNoMeasure(t *testing.T) {
	var lines []string
	tr := newTracker(Config{}, Deps{Notice: func(l string) { lines = append(lines, l) }}, 30, 10, 30)
	tr.meter(&sampling{Endpoint: &keyed{}, tokens: 300})
	for n := range 5 {
		tr.started = time.Now().Add(-time.Minute)
		tr.done(record{Sample: Sample{Verdict: sandbox.WA}})
		if want := n >= 2; (len(lines) > 0) != want {
			t.Fatalf("after %d samples: %q", n+1, lines)
		}
	}
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "about 9 min 0 s left: 27 samples") {
		t.Errorf("got %q", lines)
	}
}

func TestInvalidTasksAreNoInfraErrors(t *testing.T) {
	var last Progress
	tr := newTracker(Config{}, Deps{Progress: func(p Progress) { last = p }}, 2, 2, 2)
	tr.done(record{Sample: Sample{Verdict: sandbox.InvalidTask}})
	tr.done(record{Sample: Sample{Verdict: sandbox.InfraError}})
	if last.Done != 2 || last.Infra != 1 || last.Scored != 0 {
		t.Errorf("progress %+v; want 2 done, 1 infra, none scored", last)
	}
}

func TestAnInfraErrorIsTold(t *testing.T) {
	var lines []string
	d := testDeps(2)
	d.Endpoint = &keyed{before: func(request string) error {
		if strings.HasPrefix(request, "p01/") {
			return errDown
		}
		return nil
	}}
	d.Notice = func(l string) { lines = append(lines, l) }
	if _, err := Run(context.Background(), testConfig(t), d); err != nil {
		t.Fatal(err)
	}
	told := strings.Join(lines, "\n")
	if strings.Count(told, errDown.Error()) != 1 || !strings.Contains(told, "of p01") {
		t.Errorf("notices %q: want the cause, once", lines)
	}
}
