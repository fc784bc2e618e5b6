package service

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coderl/cr/sandbox"
)

// How often a health check runs a program, and how long that may take. It waits
// for its turn as everybody does.
const (
	healthAge  = time.Second
	healthTime = 15 * time.Second
)

// healthClient is the name under which checks wait; no address is like it.
const healthClient = "/healthz"

// health remembers the last check, so that asking often costs nothing.
type health struct {
	mu   sync.Mutex
	at   time.Time
	took time.Duration
	err  error
}

// checkHealth runs a program and looks at what it says.
func (s *Service) checkHealth(ctx context.Context) (time.Duration, error) {
	h := &s.health
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.at.IsZero() && time.Since(h.at) < healthAge {
		return h.took, h.err
	}
	// The answer is for all who ask, so one who hangs up must not spoil it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healthTime)
	defer cancel()
	start := time.Now()
	run, err := s.run(ctx, healthClient, sandbox.Job{Language: "python", Code: "print(6 * 7)"})
	if err == nil && (run.Status != sandbox.OK || string(run.Stdout) != "42\n") {
		err = fmt.Errorf("a program that prints 42 ended as %s and printed %.40q", run.Status, run.Stdout)
	}
	h.at, h.took, h.err = time.Now(), time.Since(start), err
	return h.took, h.err
}

func (s *Service) serveHealth(w http.ResponseWriter, r *http.Request) {
	state := map[string]any{
		"status": "ok", "service": "cr", "extension": extensionVersion, "workers": s.cfg.Workers,
		"isolation": s.exec.Isolation(),
	}
	code := http.StatusOK
	took, err := s.checkHealth(r.Context())
	state["run_seconds"] = took.Seconds()
	switch _, draining := s.admission.state(); {
	case draining:
		state["status"], code = "draining", http.StatusServiceUnavailable
	case err != nil:
		state["status"], state["error"], code = "failing", err.Error(), http.StatusServiceUnavailable
	}
	writeJSON(w, code, state)
}
