package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxHops bounds a chain of redirects.
const maxHops = 10

// answer is the last response of a chain of redirects.
type answer struct {
	*http.Response
	url *url.URL
	// linked gathers the hub's own headers over the chain: a redirect to a CDN
	// carries them, the CDN's answer does not.
	linked http.Header
	// refused is the untrusted origin that was not sent the token, if any.
	refused string
}

// stopAt says whether a redirect to an untrusted host is an answer in itself.
type stopAt func(linked http.Header) bool

// send makes a request and follows its redirects. Only trusted origins are sent
// the token. The caller closes the body.
func (c *Client) send(ctx context.Context, method string, u *url.URL, header http.Header, stop stopAt) (*answer, error) {
	if c.options.Offline {
		return nil, ErrOffline
	}
	a := &answer{url: u, linked: http.Header{}}
	for range maxHops {
		if err := c.hop(ctx, method, header, a); err != nil {
			return nil, err
		}
		next, err := a.next()
		if err != nil {
			return nil, errors.Join(err, a.Body.Close())
		}
		if next == nil {
			return a, nil
		}
		if !c.trusted[origin(next)] && stop != nil && stop(a.linked) {
			return a, nil
		}
		// A redirect's body is of no use; an error in closing it neither.
		_ = a.Body.Close()
		a.url = next
	}
	return nil, fmt.Errorf("%w: %s: more than %d redirects, a loop", ErrNotHub, bare(u), maxHops)
}

// hop makes one request of a chain.
func (c *Client) hop(ctx context.Context, method string, header http.Header, a *answer) error {
	request, err := http.NewRequestWithContext(ctx, method, a.url.String(), http.NoBody)
	if err != nil {
		return fmt.Errorf("%s: %w", bare(a.url), err)
	}
	request.Header = header.Clone()
	if request.Header == nil {
		request.Header = http.Header{}
	}
	request.Header.Set("User-Agent", c.options.UserAgent)
	request.Header.Set("Accept-Encoding", "identity")
	if c.options.Token != "" {
		if c.trusted[origin(a.url)] {
			request.Header.Set("Authorization", "Bearer "+c.options.Token)
		} else {
			a.refused = a.url.Host
		}
	}
	if user := a.url.User; user != nil && request.Header.Get("Authorization") == "" {
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
	}
	response, err := c.http.RoundTrip(request)
	if err != nil {
		return c.networkError(a.url, err)
	}
	a.Response = response
	c.options.Log.Debug("hub", "method", method, "url", bare(a.url), "range", header.Get("Range"), "status", response.StatusCode)
	a.gather()
	return nil
}

// networkError is a failure that may be gone at the next try.
func (c *Client) networkError(u *url.URL, err error) error {
	return fmt.Errorf("%s: %w: %w", bare(u), errBroken, err)
}

// gather keeps the hub's headers; a later hop's stand.
func (a *answer) gather() {
	for _, name := range []string{headerCommit, headerLinkedETag, headerLinkedSize} {
		if v := a.Header.Get(name); v != "" {
			a.linked.Set(name, v)
		}
	}
}

// next returns where a redirect leads; nil for any other answer.
func (a *answer) next() (*url.URL, error) {
	switch a.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	location := a.Header.Get("Location")
	next, err := a.url.Parse(location)
	if err != nil || location == "" || (next.Scheme != "http" && next.Scheme != "https") {
		return nil, fmt.Errorf("%w: %s: a redirect without a usable Location", ErrNotHub, bare(a.url))
	}
	if a.url.Scheme == "https" && next.Scheme == "http" {
		return nil, fmt.Errorf("%w: %s: a redirect from https to http", ErrNotHub, bare(a.url))
	}
	return next, nil
}

// failure explains a status that is no success, by the hub's own code for it
// where it gives one. The body is closed.
func (c *Client) failure(a *answer) error {
	defer a.Body.Close()
	anonymous := c.options.Token == ""
	denied := a.StatusCode == http.StatusUnauthorized || a.StatusCode == http.StatusForbidden
	message := shown(a.Header.Get("X-Error-Message"))
	switch code := a.Header.Get("X-Error-Code"); {
	case denied && a.refused != "":
		return fmt.Errorf("%w %s (HTTP %d): trust it by name if the token is for it too", ErrUntrusted, a.refused, a.StatusCode)
	case code == "GatedRepo":
		return ErrGated
	case code == "RevisionNotFound":
		return ErrNoRevision
	case code == "EntryNotFound":
		return ErrNoFile
	case code == "RepoNotFound" && anonymous, a.StatusCode == http.StatusUnauthorized && anonymous:
		return ErrPrivate
	case a.StatusCode == http.StatusUnauthorized:
		return ErrBadToken
	case code == "RepoNotFound":
		return ErrMissing
	}
	return &StatusError{URL: bare(a.url), Code: a.StatusCode, Message: c.hide(message)}
}

// shown is a server's own words as a terminal may see them.
func shown(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > maxWords {
		text = string(runes[:maxWords]) + "…"
	}
	return strings.TrimSpace(text)
}

// maxWords is how many characters of a server's words are shown.
const maxWords = 400
