package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// console is where a command prints: results on out, everything else on err.
type console struct {
	out, err io.Writer
	json     bool
	quiet    bool
	terminal bool // err is a terminal: a bar can be drawn
	log      *slog.Logger
	said     map[string]bool // by once
}

func newConsole(a *app, stdout, stderr io.Writer) *console {
	level := slog.LevelWarn
	if a.Verbose {
		level = slog.LevelDebug
	}
	f, ok := stderr.(*os.File)
	return &console{
		out: stdout, err: stderr, json: a.JSON, quiet: a.Quiet,
		terminal: ok && term.IsTerminal(int(f.Fd())),
		said:     map[string]bool{},
		log:      slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level})),
	}
}

// note prints a line of progress, unless --quiet.
func (c *console) note(format string, args ...any) {
	if !c.quiet {
		fmt.Fprintf(c.err, format+"\n", args...)
	}
}

// once is note for a line that holds for all models of a command: it is printed
// the first time.
func (c *console) once(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if !c.said[line] {
		c.said[line] = true
		c.note("%s", line)
	}
}

// result prints a command's result: v as one JSON object with --json, text
// otherwise.
func (c *console) result(v any, text func(io.Writer) error) error {
	if !c.json {
		return text(c.out)
	}
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}
