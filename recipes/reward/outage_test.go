package reward

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/remote"
)

// A service that hangs, drops the connection, breaks off in the middle or is
// behind a gateway that cannot reach it is waited for; one that answers with
// something else is not, and says what that was.
func TestOwnServiceMisbehaves(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		passes bool
		says   string
	}{
		"hangs": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, true, ""},
		"drops": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true, ""},
		"breaks off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"sc`)
		}, true, ""},
		"gateway":   {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusBadGateway) }, true, ""},
		"no page":   {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, strings.Repeat("x", 5000), 404) }, false, "HTTP 404: xxx"},
		"a page":    {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>welcome") }, false, "<html>welcome"},
		"no end":    {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat(" ", 2<<20)) }, false, "more than"},
		"too few":   {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[]`) }, false, "not a JSON object"},
		"redirects": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusSeeOther) }, false, "HTTP 303"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // only then does the server see a client leave
				if asked++; asked == 1 || !c.passes {
					c.answer(w, r)
					return
				}
				fmt.Fprint(w, `{"score": 0.5}`)
			}))
			defer s.Close()
			p := Patience{Wait: time.Minute, Step: time.Millisecond}
			score, err := New(recipe(t, "reward.own="+s.URL, "reward.timeout=1"), nil, p).Score(t.Context(), answerOf("", 0, agent.FinishStop))
			switch {
			case c.passes && (err != nil || score.Reward != 0.5):
				t.Errorf("%+v, %v", score, err)
			case !c.passes && (!errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 600):
				t.Errorf("%v", err)
			}
		})
	}
}

// failing is an executor whose first runs fail.
type failing struct {
	sandbox.Executor
	err   error
	times int
	tried int
}

// Run implements [sandbox.Executor].
func (f *failing) Run(context.Context, sandbox.Job) (sandbox.Result, error) {
	if f.tried++; f.tried <= f.times {
		return sandbox.Result{}, fmt.Errorf("run: %w", f.err)
	}
	return sandbox.Result{Status: sandbox.OK}, nil
}

// What may pass is waited for; a program that can never run there is not: it
// would hold the run up for an hour, answer by answer.
func TestSandboxFails(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		passes bool
	}{
		"away":      {errors.New("connection refused"), true},
		"token":     {remote.ErrToken, false},
		"unfit":     {remote.ErrUnfit, false},
		"no Pascal": {&sandbox.LanguageError{Language: "pascal"}, false},
	} {
		var notes []string
		p := NewPatience(time.Minute, func(line string) { notes = append(notes, line) })
		p.Step = time.Millisecond
		f := &failing{err: c.err, times: 3}
		_, err := p.Executor(f).Run(t.Context(), sandbox.Job{})
		switch {
		case c.passes && (err != nil || f.tried != 4 || len(notes) != 2):
			t.Errorf("%s: %v after %d tries, told %q", name, err, f.tried, notes)
		case !c.passes && (!errors.Is(err, c.err) || f.tried != 1 || len(notes) != 0):
			t.Errorf("%s: %v after %d tries, told %q", name, err, f.tried, notes)
		}
	}
	p := NewPatience(0, func(line string) { t.Errorf("told of no wait: %s", line) })
	f := &failing{err: errors.New("connection refused"), times: 3}
	if _, err := p.Executor(f).Run(t.Context(), sandbox.Job{}); !errors.Is(err, f.err) || f.tried != 1 {
		t.Errorf("no patience: %v after %d tries", err, f.tried)
	}
}
