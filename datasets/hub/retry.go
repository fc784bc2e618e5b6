package hub

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/coderl/cr/internal/retry"
)

const (
	maxPause  = 5 * time.Minute // that a server's Retry-After may ask for
	maxGrowth = 64              // of the wait between two tries
)

// busyError is a failure that carries the server's wish when to come back.
type busyError struct {
	error
	after time.Duration // 0: not said
}

func (e *busyError) Unwrap() error { return e.error }

// busy returns an error for a status that may pass by itself; nil for others.
func (c *Client) busy(a *answer) error {
	switch a.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &busyError{c.failure(a), retry.After(a.Header.Get("Retry-After"), time.Now(), maxPause)}
	}
	return nil
}

// persist repeats try until it succeeds, fails for good, or fails the allowed
// number of times in a row without advancing.
func (c *Client) persist(ctx context.Context, try func() (advanced bool, err error)) error {
	for failures := 0; ; {
		advanced, err := try()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if advanced {
			failures = 0
		}
		failures++
		if failures >= c.options.Attempts || !passing(err) {
			return err
		}
		pause := c.pause(err, failures)
		c.options.Log.Debug("hub: trying again", "after", pause, "error", c.hide(err.Error()))
		if err := retry.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// pause is the server's wish, else the wait, doubled for each failure in a row.
func (c *Client) pause(err error, failures int) time.Duration {
	var busy *busyError
	if errors.As(err, &busy) && busy.after > 0 {
		return busy.after
	}
	return retry.Backoff(c.options.Wait, c.options.Wait*maxGrowth, failures)
}

// errBroken is a connection that failed or broke off.
var errBroken = errors.New("the connection failed")

// passing says whether an error may be gone at the next try: busy servers and
// broken connections, but not wrong certificates, names or requests.
func passing(err error) bool {
	var (
		certificate *tls.CertificateVerificationError
		authority   x509.UnknownAuthorityError
		name        *net.DNSError
	)
	switch {
	case errors.As(err, &certificate), errors.As(err, &authority):
		return false
	case errors.As(err, &name) && name.IsNotFound:
		return false
	}
	return errors.As(err, new(*busyError)) || errors.Is(err, errBroken)
}
