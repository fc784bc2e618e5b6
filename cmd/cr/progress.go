package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/coderl/cr/eval"
)

// lineEvery is how often progress is printed where no bar can be drawn.
const lineEvery = 5 * time.Second

// progress shows a run's progress: a bar on a terminal, plain lines elsewhere,
// nothing with --quiet.
type progress struct {
	console *console
	bar     *progressbar.ProgressBar
	last    time.Time
}

func newProgress(c *console) *progress { return &progress{console: c, last: time.Now()} }

// show is called after every sample and every second.
func (p *progress) show(e eval.Progress) {
	switch {
	case p.console.quiet:
	case p.console.terminal:
		p.draw(e)
	case time.Since(p.last) >= lineEvery:
		p.last = time.Now()
		p.console.note("%d/%d samples, %s", e.Done, e.Total, figures(e))
	}
}

func (p *progress) draw(e eval.Progress) {
	if p.bar == nil {
		p.bar = progressbar.NewOptions(e.Total,
			progressbar.OptionSetWriter(p.console.err), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(false),
			progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	}
	p.bar.Describe(figures(e))
	// Errors are those of a terminal that went away; there is nothing to tell it.
	_ = p.bar.Set(e.Done)
}

// note prints a line where the bar stands, which the next call draws again.
func (p *progress) note(line string) {
	if p.bar != nil {
		_ = p.bar.Clear() // as in draw
	}
	p.console.note("%s", line)
}

// end clears the bar.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

// figures is the pass rate, the speed and the time left, as far as known.
func figures(e eval.Progress) string {
	text := "pass rate -"
	if e.Scored > 0 {
		text = fmt.Sprintf("pass rate %.0f %%", 100*float64(e.Passed)/float64(e.Scored))
	}
	if e.TokensPerSecond > 0 {
		text += fmt.Sprintf(", %.0f tokens/s", e.TokensPerSecond)
	}
	if e.Infra > 0 {
		text += fmt.Sprintf(", %d infra errors", e.Infra)
	}
	if e.Left > 0 {
		text += fmt.Sprintf(", %s left", e.Left.Round(time.Second))
	}
	return text
}
