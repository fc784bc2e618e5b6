// Package retry times the repetition of requests to busy servers.
package retry

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// After reads a Retry-After header (RFC 9110, 10.2.3), a number of seconds or a
// date, as the wait from now: at most longest, and 0 for anything else.
func After(text string, now time.Time, longest time.Duration) time.Duration {
	if text != "" && strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return longest // more than any number of ours
		}
		return min(time.Duration(seconds)*time.Second, longest)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), longest)
	}
	return 0
}

// Backoff is the wait after so many failures in a row: first, doubled for each
// failure after the first, at most longest. It is shortened by a random part of
// up to a half, so that many clients do not come back at the same moment.
func Backoff(first, longest time.Duration, failures int) time.Duration {
	wait := first
	for ; failures > 1 && wait < longest; failures-- {
		wait += min(wait, longest-wait)
	}
	wait = min(wait, longest)
	if wait <= 1 {
		return max(wait, 0)
	}
	return wait - rand.N(wait/2+1)
}

// Sleep waits for d, or until ctx ends, whose error it then returns.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
