package reward

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coderl/cr/recipes/preset"
)

// An executable that is not there is found out before a run begins.
func TestStartable(t *testing.T) {
	for own, want := range map[string]error{
		"": nil, "http://localhost:1": nil, "sh": nil,
		filepath.Join(t.TempDir(), "none"): ErrBroken, t.TempDir(): ErrBroken,
	} {
		if err := Startable(preset.Reward{Own: own}); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", own, err, want)
		}
	}
}

// An endpoint that is there may answer what it likes to a question that is none.
func TestReachable(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "POST alone", http.StatusNotImplemented)
	}))
	if err := Reachable(t.Context(), preset.Reward{Own: s.URL}); err != nil {
		t.Errorf("a server that knows POST alone: %v", err)
	}
	s.Close()
	for _, own := range []string{s.URL, "http://no.such.host.invalid/reward", "http://user:secret@" + s.Listener.Addr().String()} {
		if err := Reachable(t.Context(), preset.Reward{Own: own}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", own, err)
		}
	}
	if err := Reachable(t.Context(), preset.Reward{Own: "/no/such/reward"}); !errors.Is(err, ErrBroken) {
		t.Errorf("an executable that is not there: %v", err)
	}
}
