// Package remote runs programs at a service that speaks ScaleBox's or
// SandboxFusion's API, of which cr sandbox serve is one.
//
// A service of cr's own is asked by an extension of that API for all that a
// [sandbox.Job] can say, and its answers are those of the local sandbox. Other
// services know stdin, stdout and exit statuses; a driver program around the
// judged one gives it the rest. See docs/sandbox.md for what is weaker then.
//
// A service that cannot be reached, or that says the fault is its own, is an
// error and never a result.
package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/lang"
)

// Errors that callers branch on.
var (
	// ErrToken means that the service refused the token, or wants one.
	ErrToken = errors.New("the service refuses the token")
	// ErrUnfit means that the job is beyond the service, now and later.
	ErrUnfit = errors.New("the service cannot do this")
)

// Options say which service, and how to use it. Zero fields mean the default.
type Options struct {
	URL   string // such as http://host:8080; a path ending in /run_code will do
	Token string // bearer token; "" sends none
	// Parallel is how many programs are at the service at a time. The default is
	// twice its workers, so that it never waits for us, or 8 if it does not say.
	Parallel int
	// Patience is how long a service that gives no answer is tried again, and how
	// long, beyond a program's own limits, one answer is waited for. Default 5
	// minutes; [Open] waits no longer than 30 seconds.
	Patience time.Duration
}

const (
	defaultPatience = 5 * time.Minute
	openPatience    = 30 * time.Second
	leastWait       = 10 * time.Second // for an answer of Open, whatever the patience
	defaultParallel = 8
)

// Client runs jobs at a service. It is safe for concurrent use.
type Client struct {
	base      string // what paths are put after
	shown     string // the same without a password
	token     string
	patience  time.Duration
	http      *http.Client
	own       bool // the service is cr's own and knows the extension
	isolation sandbox.Isolation
	slots     chan struct{}
}

// Open asks a service what it is and lets it run a small program. One that is
// starting is waited for.
func Open(ctx context.Context, o Options) (*Client, error) {
	base, err := baseOf(o.URL)
	if err != nil {
		return nil, err
	}
	shown := base.Redacted()
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	c := &Client{base: base.String(), shown: shown, token: o.Token, patience: o.Patience, http: newHTTP()}
	workers, err := c.introduce(ctx)
	if err != nil {
		c.http.CloseIdleConnections()
		return nil, fmt.Errorf("sandbox %s: %w", shown, err)
	}
	if o.Parallel <= 0 {
		o.Parallel = defaultParallel
		if workers > 0 {
			o.Parallel = 2 * workers
		}
	}
	c.slots = make(chan struct{}, o.Parallel)
	return c, nil
}

// baseOf is the address that paths are put after.
func baseOf(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the sandbox's address is not an http(s) URL, such as http://host:8080")
	}
	path := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/run_code")
	return &url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host, Path: strings.TrimRight(path, "/")}, nil
}

// Own says whether the service is cr's own, which knows all that the local
// sandbox does.
func (c *Client) Own() bool { return c.own }

// Parallel is how many programs are at the service at a time at most.
func (c *Client) Parallel() int { return cap(c.slots) }

// Isolation has the tier "remote", and for layers what the service says of
// itself.
func (c *Client) Isolation() sandbox.Isolation { return c.isolation }

// Close drops idle connections. Runs end by their contexts.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Run runs one job at the service.
func (c *Client) Run(ctx context.Context, job sandbox.Job) (sandbox.Result, error) {
	language := lang.Find(job.Language)
	if language == nil {
		return sandbox.Result{}, &sandbox.LanguageError{Language: job.Language}
	}
	job.Language = language.Name
	job.Limits = withDefaults(job.Limits)
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return sandbox.Result{}, ctx.Err()
	}
	defer func() { <-c.slots }()
	run := c.runForeign
	if c.own {
		run = c.runOwn
	}
	result, err := run(ctx, &job)
	if err != nil {
		return sandbox.Result{}, fmt.Errorf("run %s program at %s: %w", job.Language, c.shown, err)
	}
	return result, nil
}

// withDefaults names the limits that must not be the service's own.
func withDefaults(l sandbox.Limits) sandbox.Limits {
	d := sandbox.DefaultLimits()
	if l.CPU <= 0 {
		l.CPU = d.CPU
	}
	if l.Output <= 0 {
		l.Output = d.Output
	}
	return l
}
