package hub

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DefaultEndpoint is the public hub.
const DefaultEndpoint = "https://huggingface.co"

// Options configure a [Client]; a zero field means its default.
type Options struct {
	Endpoint string   // base URL of the hub or a mirror; [DefaultEndpoint]
	Token    string   // bearer token, sent to trusted origins alone
	Trusted  []string // origins beside the endpoint's that may see the token
	Offline  bool     // make no request: [ErrOffline] where one is needed

	Jobs      int           // requests at a time, 8
	ChunkSize int64         // bytes of a parallel range request, 32 MiB
	Attempts  int           // tries in a row without any progress, 5
	Wait      time.Duration // before the second try, doubling; half a second
	Stall     time.Duration // silence that counts as a dropped connection, a minute

	UserAgent string       // "cr"
	Log       *slog.Logger // discards
}

// Client talks to one hub. It is safe for concurrent use.
type Client struct {
	options  Options
	endpoint *url.URL
	trusted  map[string]bool // origins
	http     *http.Transport
	slots    chan struct{} // a request body in flight holds one
}

// New returns a client. It makes no request.
func New(o Options) (*Client, error) {
	o.Endpoint = cmp.Or(o.Endpoint, DefaultEndpoint)
	o.Jobs = cmp.Or(max(o.Jobs, 0), 8)
	o.ChunkSize = cmp.Or(max(o.ChunkSize, 0), 32<<20)
	o.Attempts = cmp.Or(max(o.Attempts, 0), 5)
	o.Wait = cmp.Or(max(o.Wait, 0), 500*time.Millisecond)
	o.Stall = cmp.Or(max(o.Stall, 0), time.Minute)
	o.UserAgent = cmp.Or(o.UserAgent, "cr")
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Token = strings.TrimSpace(o.Token)
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the token holds characters that no token has: was more than the token copied?")
	}

	endpoint, err := parseEndpoint(o.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("hub endpoint: %w", err)
	}
	c := &Client{options: o, endpoint: endpoint, trusted: map[string]bool{origin(endpoint): true}}
	for _, text := range o.Trusted {
		u, err := parseEndpoint(text)
		if err != nil {
			return nil, fmt.Errorf("trusted origin: %w", err)
		}
		c.trusted[origin(u)] = true
	}
	c.slots = make(chan struct{}, o.Jobs)
	c.http = newHTTP(o)
	return c, nil
}

// newHTTP is the bare transport: what a redirect may see is decided hop by hop
// in this package, and http.Client would print a Location that it cannot parse,
// signature and all.
func newHTTP(o Options) *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DisableCompression:    true, // sizes and ranges are those of the file
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   o.Jobs,
		IdleConnTimeout:       30 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ResponseHeaderTimeout: o.Stall,
	}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// hide removes the token from text that somebody may read.
func (c *Client) hide(text string) string {
	if c.options.Token == "" {
		return text
	}
	return strings.ReplaceAll(text, c.options.Token, "…")
}
