package jail

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// stderrKeep is how much of each end of stderr is kept.
const stderrKeep = 32 << 10

// channels are a running job's streams, as seen from outside.
type channels struct {
	theirs  [6]int // stdin, stdout, stderr, result, payload, fetched files or tests; in the order of the wire
	ours    [4]*os.File
	stdout  capped
	stderr  headTail
	result  capped
	fetched capped
	over    chan struct{} // closed when one of the capped passes its limit
	tell    sync.Once
	done    sync.WaitGroup
}

// openChannels makes the streams of a job.
func openChannels(job *Job, token string) (*channels, error) {
	c := &channels{theirs: [6]int{-1, -1, -1, -1, -1, -1}, over: make(chan struct{})}
	c.stdout.limit = job.Limits.Output
	c.result.limit = job.Limits.Output + int64(len(startedMark)) + tokenLength + 1
	c.fetched.limit = fetchLimit
	if err := c.open(job, token); err != nil {
		return nil, errors.Join(err, c.closeTheirs(), c.closeOurs())
	}
	return c, nil
}

func (c *channels) open(job *Job, token string) (err error) {
	if c.theirs[0], err = sealed("stdin", job.Stdin); err != nil {
		return err
	}
	data, err := payload(job)
	if err != nil {
		return err
	}
	if c.theirs[4], err = sealed("job", data); err != nil {
		return err
	}
	for i := range 3 {
		if c.ours[i], c.theirs[i+1], err = outputPipe(); err != nil {
			return err
		}
	}
	switch {
	case job.checked():
		var tests []byte
		if tests, err = testsPayload(job.Check, token); err == nil {
			c.theirs[5], err = sealed("tests", tests)
		}
	case len(job.Fetch) > 0:
		c.ours[3], c.theirs[5], err = outputPipe()
	}
	return err
}

// given are the descriptors that go to the lane.
func (c *channels) given() []int {
	if c.theirs[5] < 0 {
		return c.theirs[:5]
	}
	return c.theirs[:]
}

// listen reads the program's output until all its writers are gone.
func (c *channels) listen() {
	for i, sink := range []io.Writer{&c.stdout, &c.stderr, &c.result, &c.fetched} {
		if c.ours[i] == nil {
			continue
		}
		c.done.Go(func() {
			// The only read error is one that Close causes; a full sink ends
			// the copy, and the job with it.
			if _, err := io.Copy(sink, c.ours[i]); errors.Is(err, errOverLimit) {
				c.tell.Do(func() { close(c.over) })
			}
		})
	}
}

// finish waits for the last output and closes what is ours.
func (c *channels) finish() error {
	c.done.Wait()
	return c.closeOurs()
}

func (c *channels) closeOurs() error {
	var failed error
	for _, f := range c.ours {
		if f != nil {
			failed = errors.Join(failed, f.Close())
		}
	}
	return failed
}

// exceeded says whether the program wrote more than it may. It is settled once
// finish has returned.
func (c *channels) exceeded() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}

// closeTheirs drops our copies of the program's ends, so that the program's end
// is the streams' end.
func (c *channels) closeTheirs() error {
	var failed error
	for i, fd := range c.theirs {
		if fd >= 0 {
			failed = errors.Join(failed, unix.Close(fd))
			c.theirs[i] = -1
		}
	}
	return failed
}

// errOverLimit ends a copy into a full sink.
var errOverLimit = errors.New("output limit exceeded")

// capped keeps up to limit bytes and then refuses.
type capped struct {
	data  []byte
	limit int64
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.limit - int64(len(c.data))
	if int64(len(p)) > room {
		c.data = append(c.data, p[:room]...)
		return int(room), errOverLimit
	}
	c.data = append(c.data, p...)
	return len(p), nil
}

// headTail keeps both ends of a stream of any length.
type headTail struct {
	head, tail []byte
	cut        int64 // bytes dropped between them
}

func (h *headTail) Write(p []byte) (int, error) {
	n := len(p)
	if room := stderrKeep - len(h.head); room > 0 {
		k := min(room, len(p))
		h.head = append(h.head, p[:k]...)
		p = p[k:]
	}
	h.tail = append(h.tail, p...)
	if extra := len(h.tail) - 2*stderrKeep; extra > 0 {
		// Cut to half only now and then, so that a flood costs one move a half.
		drop := len(h.tail) - stderrKeep
		h.cut += int64(drop)
		h.tail = append(h.tail[:0], h.tail[drop:]...)
	}
	return n, nil
}

// bytes joins the ends, with a note where something is missing.
func (h *headTail) bytes() []byte {
	tail, cut := h.tail, h.cut
	if extra := len(tail) - stderrKeep; extra > 0 {
		tail, cut = tail[extra:], cut+int64(extra)
	}
	if cut == 0 {
		return append(h.head, tail...)
	}
	note := fmt.Sprintf("\n... [%d bytes cut] ...\n", cut)
	return append(append(h.head, note...), tail...)
}
