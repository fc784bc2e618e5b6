package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/coderl/cr/recipes/logs"
)

// followEvery is how often growing logs are looked at.
const followEvery = time.Second

// follow shows the runs as they grow until the context ends, which is how one
// stops it: that is no error. What is not there yet is waited for.
func (l *logsCmd) follow(ctx context.Context, c *console, collection *logs.Collection) error {
	screen := newScreen(c)
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for first := true; ; first = false {
		changed, err := collection.Poll(ctx)
		missing := errors.Is(err, fs.ErrNotExist)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !missing:
			return err
		case changed || first:
			screen.show(collection.Logs())
		}
		if missing {
			c.once("waiting: %v", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// screen shows runs: redrawn in place on a terminal, a plain line a step
// elsewhere, nothing with --json or --quiet.
type screen struct {
	out      io.Writer
	silent   bool
	terminal *os.File                // nil where out is none
	shown    map[string]progressMark // by run
}

// progressMark is how far a run was printed.
type progressMark struct {
	attempt int
	step    int64
}

func newScreen(c *console) *screen {
	s := &screen{out: c.out, silent: c.json || c.quiet, shown: map[string]progressMark{}}
	if f, ok := c.out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		s.terminal = f
	}
	return s
}

func (s *screen) show(found *logs.Logs) {
	switch {
	case s.silent:
	case s.terminal != nil:
		s.redraw(found)
	default:
		s.print(found)
	}
}

// redraw clears the terminal and draws table and curve in its size.
func (s *screen) redraw(found *logs.Logs) {
	width, height, err := term.GetSize(int(s.terminal.Fd()))
	if err != nil {
		width, height = 80, 24
	}
	const clear = "\x1b[H\x1b[2J"
	text := "waiting for the first metric line\n"
	if len(found.Runs) > 0 {
		curve := logs.Curve(found.Runs, width-1, max(8, height/3), true)
		const below = 3 // blank, "Ctrl-C ends.", the cursor
		text = clipped(logs.View(found.Summaries(), width), width-1, height-below-strings.Count(curve, "\n")-1) + "\n" + curve
	}
	fmt.Fprint(s.out, clear+text+"\nCtrl-C ends.\n")
}

// clipped is the part of a table that a terminal has room for: lines that wrap or
// scroll would push its beginning out of sight.
func clipped(table string, width, height int) string {
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	if height = max(height, 2); len(lines) > height {
		hidden := len(lines) - height + 1
		lines = append(lines[:height-1], fmt.Sprintf("… and %d more lines; a taller window shows them", hidden))
	}
	for i, line := range lines {
		if letters := []rune(line); len(letters) > width {
			lines[i] = string(letters[:max(width, 0)])
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// print writes the steps that were not printed yet; those that a restart trains
// again are printed again.
func (s *screen) print(found *logs.Logs) {
	for _, r := range found.Runs {
		mark := s.shown[r.Name]
		seen := mark
		for _, row := range r.Rows {
			if row.Attempt < seen.attempt || row.Attempt == seen.attempt && row.Step <= seen.step {
				continue
			}
			fmt.Fprintln(s.out, r.StepText(row))
			if row.Attempt >= mark.attempt {
				mark = progressMark{row.Attempt, row.Step}
			}
		}
		s.shown[r.Name] = mark
	}
}
