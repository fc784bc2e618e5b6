package reward

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"time"

	"github.com/coderl/cr/recipes/preset"
)

// probeTime is how long an endpoint may take to show that it is there.
const probeTime = 5 * time.Second

// Startable tells, before anything is computed, whether a reward of one's own
// that is an executable can be started.
func Startable(r preset.Reward) error {
	if r.Own == "" || isService(r.Own) {
		return nil
	}
	if _, err := exec.LookPath(r.Own); err != nil {
		return fmt.Errorf("reward.own: %w: %w", ErrBroken, err)
	}
	return nil
}

// Reachable is Startable, and asks an endpoint whether it is there; whatever it
// answers will do, for what it is asked is no answer to score.
func Reachable(ctx context.Context, r preset.Reward) error {
	if !isService(r.Own) {
		return Startable(r)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, probeTime, fmt.Errorf("no answer within %s", probeTime))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, r.Own, nil)
	if err != nil {
		return fmt.Errorf("reward.own: %w: %w", ErrBroken, err)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("reward.own %s: %w", shown(r.Own), causeOr(ctx, err))
	}
	return res.Body.Close()
}
