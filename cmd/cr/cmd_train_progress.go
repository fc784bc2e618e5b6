package main

import (
	"fmt"
	"math"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/coderl/cr/recipes/sft"
)

// barSteps is how finely the bar divides a step, which may take minutes.
const barSteps = 100

// trainProgress shows a training run: the lines of its steps on stdout, or on
// stderr where stdout is for JSON; and a bar below them on a terminal.
type trainProgress struct {
	console *console
	bar     *progressbar.ProgressBar
	last    time.Time
}

func newTrainProgress(c *console) *trainProgress { return &trainProgress{console: c, last: time.Now()} }

// Write prints the line of a step.
func (p *trainProgress) Write(line []byte) (int, error) {
	p.clear()
	p.last = time.Now()
	switch {
	case !p.console.json:
		return p.console.out.Write(line)
	case !p.console.quiet:
		return p.console.err.Write(line)
	}
	return len(line), nil
}

// show is called often: at each micro-batch.
func (p *trainProgress) show(s sft.Progress) { p.at(s.Step, s.Last, s.Share, trainFigures(s)) }

// at shows that a run is at a share of a step of so many.
func (p *trainProgress) at(step, last int, share float64, figures string) {
	switch {
	case p.console.quiet:
	case p.console.terminal:
		p.draw(step, last, share, figures)
	case time.Since(p.last) >= lineEvery:
		p.last = time.Now()
		p.console.note("step %d/%d, %s", step, last, figures)
	}
}

func (p *trainProgress) draw(step, last int, share float64, figures string) {
	if p.bar == nil {
		p.bar = progressbar.NewOptions(barSteps*last,
			progressbar.OptionSetWriter(p.console.err), progressbar.OptionSetPredictTime(false), progressbar.OptionFullWidth(),
			progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond))
	}
	p.bar.Describe(fmt.Sprintf("step %d/%d, %s", step, last, figures))
	// Errors are those of a terminal that went away; there is nothing to tell it.
	_ = p.bar.Set(barSteps*step + int(barSteps*share))
}

// trainFigures is the loss, the speed and the time left, as far as known.
func trainFigures(s sft.Progress) string {
	text := s.Stage
	if s.Share > 0 {
		text += fmt.Sprintf(" %.0f %%", 100*s.Share)
	}
	if !math.IsNaN(s.Loss) {
		text += fmt.Sprintf(", loss %.4f", s.Loss)
	}
	if s.TokensPerSecond > 0 {
		text += fmt.Sprintf(", %.0f tokens/s", s.TokensPerSecond)
	}
	if s.Left > 0 {
		text += fmt.Sprintf(", %s left", s.Left.Round(time.Second))
	}
	return text
}

// note prints a line where the bar stands, which the next call draws again.
func (p *trainProgress) note(line string) {
	p.clear()
	p.console.note("%s", line)
}

func (p *trainProgress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear() // as in draw
	}
}

// end clears the bar.
func (p *trainProgress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
