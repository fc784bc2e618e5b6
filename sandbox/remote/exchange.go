package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coderl/cr/internal/retry"
)

// Bounds of trying again.
const (
	firstWait = 250 * time.Millisecond
	longWait  = 15 * time.Second
	longAfter = time.Minute // of a Retry-After
	broken    = 3           // tries of a request that the service answers with 500
	shownBody = 300         // bytes of a refusal that an error repeats
)

// errTooLong means that an answer is longer than any that was asked for.
var errTooLong = errors.New("the answer is too long")

// retryable is a failure that may pass.
type retryable struct {
	err   error
	after time.Duration // as the service asks
	once  bool          // it may as well be for good
}

func (r *retryable) Error() string { return r.err.Error() }
func (r *retryable) Unwrap() error { return r.err }

func newHTTP() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 0, 1024
	return &http.Client{Transport: transport}
}

// waiting is how long to try for an answer.
type waiting struct {
	again time.Duration // until the last try begins
	each  time.Duration // for one try
}

// post sends a request to path until there is an answer of at most limit bytes,
// or the time is up.
func (c *Client) post(ctx context.Context, path string, body any, limit int64, wait waiting) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	return c.again(ctx, wait, func(ctx context.Context) ([]byte, error) {
		return c.send(ctx, http.MethodPost, path, text.Bytes(), limit)
	})
}

// again repeats a try that failed in a way that may pass, until the time is up.
func (c *Client) again(ctx context.Context, w waiting, try func(context.Context) ([]byte, error)) ([]byte, error) {
	start := time.Now()
	for tries := 1; ; tries++ {
		limited, cancel := context.WithTimeout(ctx, w.each)
		data, err := try(limited)
		cancel()
		var passing *retryable
		switch {
		case err == nil:
			return data, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.As(err, &passing):
			return nil, err
		case passing.once && tries >= broken:
			return nil, fmt.Errorf("tried %d times: %w", tries, passing.err)
		}
		pause := max(passing.after, retry.Backoff(firstWait, longWait, tries))
		if waited := time.Since(start); waited+pause > w.again {
			return nil, fmt.Errorf("no answer after %s and %d tries: %w", waited.Round(time.Second/10), tries, passing.err)
		}
		if err := retry.Sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// send makes one request and returns the body of a good answer.
func (c *Client) send(ctx context.Context, method, path string, body []byte, limit int64) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(r)
	if err != nil {
		var in *url.Error
		if errors.As(err, &in) {
			err = in.Err // the address is told by those who call this
		}
		return nil, &retryable{err: err}
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	switch {
	case err != nil:
		return nil, &retryable{err: fmt.Errorf("read answer: %w", err)}
	case response.StatusCode != http.StatusOK:
		return nil, refusal(response, data)
	case int64(len(data)) > limit:
		return nil, errTooLong
	}
	return data, nil
}

// statusError is an answer that is none.
type statusError struct {
	code int
	said []byte
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("%d %s", e.code, http.StatusText(e.code))
	if said := short(string(e.said)); said != "" {
		text += ": " + said
	}
	return text
}

// refusal sorts an answer with another status than 200.
func refusal(r *http.Response, body []byte) error {
	err := error(&statusError{r.StatusCode, body})
	switch r.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w (%w)", ErrToken, err)
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &retryable{err: err, after: retry.After(r.Header.Get("Retry-After"), time.Now(), longAfter)}
	case http.StatusInternalServerError:
		return &retryable{err: err, once: true}
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	return err
}

// short is a text of the service's for one line of ours.
func short(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if len(text) > shownBody {
		text = strings.ToValidUTF8(text[:shownBody], "") + " …"
	}
	return text
}
