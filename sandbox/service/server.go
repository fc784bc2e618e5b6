package service

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"
)

// Bounds on connections.
const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	maxHeader  = 64 << 10
)

// Serve answers requests on ln until ctx ends, then refuses new ones, answers
// those in the house for up to thirty seconds, and returns. It closes ln.
func (s *Service) Serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(noise{s}, "", 0),
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(newBounded(ln, connectionLimit())) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	s.Drain()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	err := srv.Shutdown(grace)
	if err != nil {
		// What is left is cut off: its programs end with their requests.
		err = errors.Join(fmt.Errorf("requests were still running after %s: %w", shutdownGrace, err), srv.Close())
	}
	if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// noise logs what net/http says of clients that misbehave, for those who look.
type noise struct{ s *Service }

func (n noise) Write(p []byte) (int, error) {
	n.s.cfg.Log.Debug("http", "said", string(p))
	return len(p), nil
}
