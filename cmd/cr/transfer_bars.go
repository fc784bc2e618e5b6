package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/coderl/cr/datasets/hub"
)

// How often bars are drawn, how many files are shown at once, and a bar's width.
const (
	drawEvery = 100 * time.Millisecond
	maxBars   = 8
	barCells  = 24
)

// transferBars shows downloads: a bar for each file in flight and one for the
// whole on a terminal, a plain line every few seconds elsewhere.
type transferBars struct {
	console *console
	total   int64
	start   time.Time

	mu      sync.Mutex
	files   map[string]*transferred // in flight
	settled int64                   // bytes of those that are done
	drawn   int                     // lines on the terminal

	quit chan struct{}
	done sync.WaitGroup
}

// transferred is one file's progress.
type transferred struct {
	path       string
	size, have int64
	first      int64 // what was there before
	since      time.Time
}

func newTransferBars(c *console, total int64) *transferBars {
	b := &transferBars{console: c, total: total, start: time.Now(), files: map[string]*transferred{}, quit: make(chan struct{})}
	if !c.quiet && total > 0 {
		b.done.Go(b.loop)
	}
	return b
}

// event takes a step of a file.
func (b *transferBars) event(e hub.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.files[e.Path]
	switch {
	case e.Finished && f != nil:
		delete(b.files, e.Path)
		b.settled += e.Size
	case e.Finished: // it was there already
	case f == nil:
		b.files[e.Path] = &transferred{path: e.Path, size: e.Size, have: e.Done, first: e.Done, since: time.Now()}
	default:
		f.have = e.Done
	}
}

func (b *transferBars) loop() {
	every := lineEvery
	if b.console.terminal {
		every = drawEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			b.show()
		case <-b.quit:
			return
		}
	}
}

// end clears the bars.
func (b *transferBars) end() {
	close(b.quit)
	b.done.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase(b.console.err)
}

func (b *transferBars) show() {
	b.mu.Lock()
	defer b.mu.Unlock()
	have := b.settled
	for _, f := range b.files {
		have += f.have
	}
	speed := float64(have) / time.Since(b.start).Seconds()
	summary := fmt.Sprintf("%s of %s, %s/s", humanBytes(have), humanBytes(b.total), humanBytes(int64(speed)))
	if !b.console.terminal {
		b.console.note("%s", summary)
		return
	}
	var frame strings.Builder
	b.erase(&frame)
	for _, f := range b.busiest() {
		fmt.Fprintln(&frame, f.line())
	}
	fmt.Fprintf(&frame, "%s %s\n", bar(have, b.total), summary)
	// A terminal that went away has nothing to be told.
	_, _ = io.WriteString(b.console.err, frame.String())
}

// erase moves back over the last frame.
func (b *transferBars) erase(w io.Writer) {
	if b.drawn > 0 {
		fmt.Fprintf(w, "\x1b[%dA\x1b[J", b.drawn)
	}
	b.drawn = 0
}

// busiest are the largest files in flight, by name; it also sets how many lines
// the frame takes.
func (b *transferBars) busiest() []*transferred {
	var files []*transferred
	for _, f := range b.files {
		files = append(files, f)
	}
	slices.SortFunc(files, func(x, y *transferred) int { return cmp.Compare(y.size, x.size) })
	files = files[:min(len(files), maxBars)]
	slices.SortFunc(files, func(x, y *transferred) int { return cmp.Compare(x.path, y.path) })
	b.drawn = len(files) + 1
	return files
}

func (f *transferred) line() string {
	speed := float64(f.have-f.first) / time.Since(f.since).Seconds()
	state := fmt.Sprintf("%s of %s, %s/s", humanBytes(f.have), humanBytes(f.size), humanBytes(int64(max(speed, 0))))
	if f.have == f.size {
		state = humanBytes(f.size) + ", verifying"
	}
	line := fmt.Sprintf("%s %s  %s", bar(f.have, f.size), state, f.path)
	width, _, err := term.GetSize(int(os.Stderr.Fd()))
	if runes := []rune(line); err == nil && len(runes) >= width && width > 1 {
		line = string(runes[:width-1])
	}
	return line
}

func bar(have, size int64) string {
	share := 1.0
	if size > 0 {
		share = min(float64(have)/float64(size), 1)
	}
	full := int(share * barCells)
	return strings.Repeat("█", full) + strings.Repeat("░", barCells-full) + fmt.Sprintf(" %3.0f %%", 100*share)
}

// humanBytes is a size in the units that hubs and disks are sold by.
func humanBytes(n int64) string {
	value, unit := float64(n), 0
	for value >= 999.5 && unit < 4 {
		value /= 1000
		unit++
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.*f %s", digitsFor(value), value, [...]string{"B", "kB", "MB", "GB", "TB"}[unit])
}

// digitsFor keeps three figures.
func digitsFor(value float64) int {
	switch {
	case value < 9.995:
		return 2
	case value < 99.95:
		return 1
	}
	return 0
}
