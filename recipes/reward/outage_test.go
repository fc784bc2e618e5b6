package reward

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coderl/cr/eval/agent"
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
