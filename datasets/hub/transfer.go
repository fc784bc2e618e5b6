package hub

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// errRestart: the server's idea of the file does not go with the bytes already
// here; begin again, without ranges.
var errRestart = errors.New("the server does not go on where the download stopped")

// transfer fetches the bytes of one file into a partial.
type transfer struct {
	client *Client
	file   File
	commit string
	url    *url.URL
	into   *partial
	// whole: ask for the file as a whole, because ranges went wrong.
	whole bool
	// report is told the bytes at hand after every write.
	report func(have int64)
}

// fill fetches what is missing. A server whose ranges are wrong is asked once
// more, from the start.
func (t *transfer) fill(ctx context.Context) error {
	err := t.chunks(ctx)
	if !errors.Is(err, errRestart) || ctx.Err() != nil {
		return err
	}
	t.client.options.Log.Debug("hub: starting again", "file", t.file.Path, "why", err.Error())
	t.whole = true
	if err := t.into.restart(); err != nil {
		return err
	}
	return t.chunks(ctx)
}

// chunks fetches all open chunks, as many at a time as the client has slots.
// The first goes ahead alone until its header shows that ranges work. The first
// failure ends the others.
func (t *transfer) chunks(parent context.Context) error {
	open := t.into.open()
	if len(open) == 0 {
		return nil
	}
	ctx, fail := context.WithCancelCause(parent)
	defer fail(nil)
	var workers sync.WaitGroup
	ranged := make(chan struct{})
	accepted := sync.OnceFunc(func() { close(ranged) })
	workers.Go(func() {
		defer accepted()
		if err := t.chunk(ctx, open[0], accepted); err != nil {
			fail(err)
		}
	})
	<-ranged
	rest := make(chan int)
	for range min(len(open)-1, t.client.options.Jobs) {
		workers.Go(func() {
			for i := range rest {
				if err := t.chunk(ctx, i, func() {}); err != nil {
					fail(err)
				}
			}
		})
	}
	for _, i := range open[1:] {
		rest <- i // after a failure each returns at once
	}
	close(rest)
	workers.Wait()
	return context.Cause(ctx)
}

// chunk fetches one chunk, trying again where that can help.
func (t *transfer) chunk(ctx context.Context, i int, accepted func()) error {
	return t.client.persist(ctx, func() (bool, error) {
		select {
		case t.client.slots <- struct{}{}:
		case <-ctx.Done():
			return false, ctx.Err()
		}
		defer func() { <-t.client.slots }()
		return t.pull(ctx, i, accepted)
	})
}

// pull makes one request for the rest of a chunk.
func (t *transfer) pull(ctx context.Context, i int, accepted func()) (advanced bool, err error) {
	c, validator := t.into.state(i)
	header := http.Header{}
	if partly := c.length < t.file.Size; (partly || c.have > 0) && !t.whole {
		header.Set("Range", fmt.Sprintf("bytes=%d-%d", c.start+c.have, c.start+c.length-1))
		if validator != "" {
			header.Set("If-Range", validator)
		}
	}
	ctx, watch := newWatch(ctx, t.client.options.Stall)
	defer watch.stop()
	a, err := t.client.send(ctx, http.MethodGet, t.url, header, nil)
	if err != nil {
		return false, watch.cause(err)
	}
	defer a.Body.Close()
	if err := t.accept(a, i); err != nil {
		return false, err
	}
	accepted()
	body, err := plainBody(a)
	if err != nil {
		return false, err
	}
	advanced, err = t.copy(watch.reader(body), i)
	if err == nil || errors.As(err, new(*fs.PathError)) {
		return advanced, err // done, or our own disk's fault
	}
	return advanced, t.client.networkError(a.url, watch.cause(err))
}

// accept checks an answer against what was asked for, and prepares the chunk
// for its body.
func (t *transfer) accept(a *answer, i int) error {
	if err := t.client.busy(a); err != nil {
		return err
	}
	c, _ := t.into.state(i)
	switch a.StatusCode {
	case http.StatusPartialContent:
		if a.Request.Header.Get("Range") == "" || encoded(a) || !t.continues(a.Header.Get("Content-Range"), c) {
			return fmt.Errorf("%w: %s: Content-Range %.80q", errRestart, bare(a.url), a.Header.Get("Content-Range"))
		}
	case http.StatusOK:
		// The server sends everything: fine for a file fetched as a whole, which
		// then begins anew.
		if c.length < t.file.Size {
			return fmt.Errorf("%w: %s: it ignores ranges", errRestart, bare(a.url))
		}
		if err := t.into.rewind(i); err != nil {
			return err
		}
	case http.StatusRequestedRangeNotSatisfiable:
		if !t.whole {
			return fmt.Errorf("%w: %s: HTTP 416", errRestart, bare(a.url))
		}
		return t.client.failure(a)
	default:
		return t.client.failure(a)
	}
	return t.consistent(a)
}

// continues checks a Content-Range: the stretch must begin where the chunk
// stands, in a file of the right size.
func (t *transfer) continues(text string, c chunk) bool {
	r, ok := parseContentRange(text)
	return ok && r.start == c.start+c.have && r.end < c.start+c.length && (r.total == t.file.Size || r.total < 0)
}

// consistent holds an answer's own words against the listing: content that
// changed meanwhile is noticed before its bytes are mixed.
func (t *transfer) consistent(a *answer) error {
	if commit := a.linked.Get(headerCommit); commit != "" && commit != t.commit {
		return fmt.Errorf("%w: %s: %s is %s, not %s", ErrNotHub, bare(a.url), headerCommit, commit, t.commit)
	}
	if etag := plainETag(a.linked.Get(headerLinkedETag)); hexSHA256.MatchString(etag) && t.file.SHA256 != "" && etag != t.file.SHA256 {
		return fmt.Errorf("%w: %s: %s is %s, the listing says %s", ErrNotHub, bare(a.url), headerLinkedETag, etag, t.file.SHA256)
	}
	etag := strings.TrimSpace(a.Header.Get("ETag"))
	if strings.HasPrefix(etag, "W/") || len(etag) > 256 {
		etag = "" // a weak tag does not vouch for bytes
	}
	same, err := t.into.serves(etag)
	if err == nil && !same {
		err = fmt.Errorf("%w: %s: its ETag changed", errRestart, bare(a.url))
	}
	return err
}

// copy writes a body into a chunk, no byte beyond its end.
func (t *transfer) copy(body io.Reader, i int) (advanced bool, err error) {
	buffer := make([]byte, 256<<10)
	for {
		c, _ := t.into.state(i)
		left := c.length - c.have
		if left == 0 {
			return advanced, nil
		}
		n, readErr := body.Read(buffer[:min(left, int64(len(buffer)))])
		if n > 0 {
			more, err := t.into.write(i, buffer[:n])
			if err != nil {
				return advanced, err
			}
			advanced = advanced || more
			t.report(t.into.have())
		}
		switch {
		case readErr == io.EOF && int64(n) < left:
			return advanced, fmt.Errorf("ended %d bytes early: %w", left-int64(n), io.ErrUnexpectedEOF)
		case readErr != nil && readErr != io.EOF:
			return advanced, readErr
		}
	}
}

func encoded(a *answer) bool {
	encoding := a.Header.Get("Content-Encoding")
	return encoding != "" && !strings.EqualFold(encoding, "identity")
}

// plainBody undoes an encoding that was not asked for.
func plainBody(a *answer) (io.Reader, error) {
	switch {
	case !encoded(a):
		return a.Body, nil
	case strings.EqualFold(a.Header.Get("Content-Encoding"), "gzip"):
		r, err := gzip.NewReader(a.Body)
		if err != nil {
			return nil, fmt.Errorf("%s: gzip: %w: %w", bare(a.url), errBroken, err)
		}
		return r, nil
	}
	return nil, fmt.Errorf("%w: %s: Content-Encoding %.40q", ErrNotHub, bare(a.url), a.Header.Get("Content-Encoding"))
}

// errStalled: nothing came for the time a client waits.
var errStalled = errors.New("the server fell silent")

// watch ends a request in which no byte arrives for some time.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	limit  time.Duration
}

func newWatch(parent context.Context, limit time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(parent)
	w := &watch{ctx: ctx, cancel: cancel, limit: limit}
	w.timer = time.AfterFunc(limit, func() { cancel(errStalled) })
	return ctx, w
}

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// cause replaces the cancellation that the watch itself brought about.
func (w *watch) cause(err error) error {
	if errors.Is(context.Cause(w.ctx), errStalled) {
		return fmt.Errorf("%w: %w for %v", errBroken, errStalled, w.limit)
	}
	return err
}

func (w *watch) reader(r io.Reader) io.Reader { return &watchedReader{r, w} }

type watchedReader struct {
	io.Reader
	watch *watch
}

func (r *watchedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.watch.timer.Reset(r.watch.limit)
	return n, err
}
