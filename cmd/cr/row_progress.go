package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/coderl/cr/datasets/rl"
)

// rowProgress shows how far work over rows is: a bar on a terminal, plain lines
// elsewhere, nothing with --quiet.
type rowProgress struct {
	console *console
	mu      sync.Mutex
	bar     *progressbar.ProgressBar
	stage   string
	last    time.Time
}

func newRowProgress(c *console) *rowProgress { return &rowProgress{console: c, last: time.Now()} }

// build shows a step of a build.
func (p *rowProgress) build(step rl.Progress) {
	if step.Stage == "read" {
		p.show("read", step.Done, step.Total, fmt.Sprintf("%d rows", step.Rows))
		return
	}
	p.show(step.Stage, step.Done, step.Total, "")
}

// show may be called by several goroutines. A total below zero is not known.
func (p *rowProgress) show(stage string, done, total int, more string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.console.quiet:
	case p.console.terminal:
		p.draw(stage, done, total, more)
	case time.Since(p.last) >= lineEvery:
		p.last = time.Now()
		of := ""
		if total >= 0 {
			of = fmt.Sprintf("/%d", total)
		}
		p.console.note("%s: %d%s  %s", stage, done, of, more)
	}
}

func (p *rowProgress) draw(stage string, done, total int, more string) {
	if p.bar == nil || p.stage != stage {
		p.clear()
		p.stage = stage
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(p.console.err), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(false),
			progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	}
	p.bar.Describe(stage + " " + more)
	// Errors are those of a terminal that went away; there is nothing to tell it.
	_ = p.bar.Set(done)
}

func (p *rowProgress) clear() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

// end clears the bar.
func (p *rowProgress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}
