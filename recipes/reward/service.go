package reward

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// service is an HTTP endpoint: the request is posted, the reply is the body.
// 408, 429, 5xx and lost connections are tried again; other refusals break the
// protocol.
type service struct {
	url   string
	limit time.Duration
}

func (s service) call(ctx context.Context, request []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.limit, fmt.Errorf("no reply within %s", s.limit))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(request))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{CheckRedirect: stayPosted}
	res, err := client.Do(req)
	if err != nil {
		return nil, causeOr(ctx, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxReply+1))
	code := res.StatusCode
	switch {
	case err != nil:
		return nil, causeOr(ctx, err)
	case code == http.StatusRequestTimeout || code == http.StatusTooManyRequests || code >= 500:
		return nil, fmt.Errorf("HTTP %d: %s", code, lastLine(body))
	case code/100 != 2:
		return nil, fmt.Errorf("%w: HTTP %d: %s", ErrBroken, code, lastLine(body))
	case len(body) > maxReply:
		return nil, fmt.Errorf("%w: a reply of more than %d bytes", ErrBroken, maxReply)
	}
	return body, nil
}

// stayPosted follows only redirects that keep the request what it is: as a GET it
// would have lost the answer.
func stayPosted(req *http.Request, via []*http.Request) error {
	const most = 10
	if req.Method != http.MethodPost || len(via) >= most {
		return http.ErrUseLastResponse
	}
	return nil
}

// causeOr is why the context ended, err where it did not.
func causeOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// shown is a reward of one's own as messages name it: without a password.
func shown(own string) string {
	if u, err := url.Parse(own); err == nil && isService(own) {
		return u.Redacted()
	}
	return own
}
