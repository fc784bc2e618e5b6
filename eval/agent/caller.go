package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/coderl/cr/internal/retry"
)

const (
	// maxResponse bounds what a server may send for one request.
	maxResponse = 64 << 20
	// longestWait bounds the time between two tries, also when a server's
	// Retry-After asks for more.
	longestWait = time.Minute
)

// StatusError is a server's refusal.
type StatusError struct {
	URL  string
	Code int
	Body string // its first kilobyte, on one line
}

// Error names the route, the status and what the server said.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%s: HTTP %d %s: %s", e.URL, e.Code, http.StatusText(e.Code), e.Body)
}

// Is makes refusals that no later request can escape count as [ErrFatal].
func (e *StatusError) Is(target error) bool {
	return target == ErrFatal && (e.Code == http.StatusUnauthorized || e.Code == http.StatusForbidden || e.Code == http.StatusNotFound)
}

// caller sends JSON requests to one server and tries again what may pass: lost
// connections, 408, 429 and 5xx.
type caller struct {
	base     string
	token    string
	attempts int
	backoff  time.Duration
	timeout  time.Duration // of one try
	client   *http.Client
}

func newCaller(base string, cfg OpenAIConfig) *caller {
	c := &caller{base: base, token: cfg.Token, attempts: cfg.Attempts, backoff: cfg.Backoff, timeout: cfg.Timeout, client: cfg.Client}
	if c.attempts <= 0 {
		c.attempts = 6
	}
	if c.backoff <= 0 {
		c.backoff = time.Second
	}
	if c.timeout <= 0 {
		c.timeout = time.Hour
	}
	if c.client == nil {
		c.client = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	}
	return c
}

// at is the same server below another path.
func (c *caller) at(path string) *caller {
	moved := *c
	moved.base += path
	return &moved
}

// do sends body as JSON and decodes the answer into reply.
func (c *caller) do(ctx context.Context, method, route string, body, reply any) error {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return fmt.Errorf("%s%s: encode request: %w", c.base, route, err)
		}
	}
	for try := 1; ; try++ {
		after, err := c.once(ctx, method, c.base+route, content, reply)
		if err == nil || ctx.Err() != nil || !retryable(err) {
			return err
		}
		if try == c.attempts {
			return fmt.Errorf("gave up after %d tries: %w", try, err)
		}
		if err := retry.Sleep(ctx, max(after, retry.Backoff(c.backoff, longestWait, try))); err != nil {
			return err
		}
	}
}

// once sends the request once; after is the server's Retry-After.
func (c *caller) once(ctx context.Context, method, url string, content []byte, reply any) (after time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("no answer within %s", c.timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(content))
	if err != nil {
		return 0, err
	}
	if content != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.client.Do(req)
	if err != nil {
		// Names method and URL itself; a timeout has its cause only in ctx.
		if ctx.Err() != nil {
			err = fmt.Errorf("%s: %w", url, context.Cause(ctx))
		}
		return 0, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxResponse+1))
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s: read answer: %w", url, err)
	case res.StatusCode/100 != 2:
		return retry.After(res.Header.Get("Retry-After"), time.Now(), longestWait), &StatusError{URL: url, Code: res.StatusCode, Body: oneLine(raw)}
	case len(raw) > maxResponse:
		return 0, &protocolError{fmt.Errorf("%s: answer longer than %d MiB", url, maxResponse>>20)}
	}
	if err := json.Unmarshal(raw, reply); err != nil {
		return 0, &protocolError{fmt.Errorf("%s: answer is not the JSON expected: %w", url, err)}
	}
	return 0, nil
}

// protocolError is an answer that came whole and makes no sense; asking again
// gives the same.
type protocolError struct{ error }

func (e *protocolError) Unwrap() error { return e.error }

func retryable(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		return status.Code == http.StatusTooManyRequests || status.Code == http.StatusRequestTimeout || status.Code >= 500
	}
	var protocol *protocolError
	return !errors.As(err, &protocol)
}

func oneLine(raw []byte) string {
	const most = 1024
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(raw[:min(len(raw), most)]), "")), " ")
	if text == "" {
		return "(no message)"
	}
	return text
}
