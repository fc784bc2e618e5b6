package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/coderl/cr/internal/atomicfile"
	"github.com/coderl/cr/recipes/logs"
)

type logsCmd struct {
	Sources  []string `arg:"" name:"DIR" placeholder:"[NAME=]DIR" help:"Folders or files with logs of verl or cr; NAME= labels a run."`
	Output   string   `short:"o" placeholder:"FILE" help:"The table to write, - for stdout (combined_metrics.csv; with --follow none)."`
	Figures  string   `placeholder:"DIR" help:"Draw the five figures into this folder, as SVG and PNG."`
	Columns  string   `enum:"all,published" default:"all" help:"${enum}: every metric under its own name, or the columns of the recipe's own script (${default})."`
	Baseline string   `placeholder:"NAME" help:"The run that others are compared with in the figures (the first without speculation)."`
	Attempts bool     `help:"Keep the rows that a resumed run trained again, with a column \"attempt\"."`
	Connect  bool     `help:"Draw curves through the steps that a restart left out."`
	Strict   bool     `help:"Anything unreadable in a log is an error, not a note."`
	Follow   bool     `short:"f" help:"Show runs as they grow, until Ctrl-C."`
}

// Help is shown below the flags.
func (logsCmd) Help() string {
	return `Examples:
  cr logs runs/tiny-sft --figures figures
  cr logs plain=logs/nospec eagle3=logs/eagle3 -o combined_metrics.csv --figures figures
  cr logs runs/tiny-rl --follow

The table has a row a step and a column a metric, led by "run" when there are
several. Where a resumed run came to steps again, its later values stand. What
cannot be read is said in one line with file and line number.`
}

// logsResult is what --json prints.
type logsResult struct {
	CSV      string             `json:"csv,omitempty"`
	Files    int                `json:"files"`
	Rows     int                `json:"rows"`
	Columns  int                `json:"columns"`
	Runs     []logs.RunSummary  `json:"runs"`
	Figures  []logs.SavedFigure `json:"figures,omitempty"`
	Problems []logs.Problem     `json:"problems"`
}

// Run reads the logs and writes what was asked for.
func (l *logsCmd) Run(ctx context.Context, c *console) error {
	collection, err := logs.NewCollection(l.sources())
	if err != nil {
		return badInput(err)
	}
	if l.Follow {
		if err := l.follow(ctx, c, collection); err != nil {
			return badInput(err)
		}
	} else if _, err := collection.Poll(ctx); err != nil {
		return badInput(err)
	}
	found := collection.Finish()
	if err := l.check(found); err != nil {
		return err
	}
	for _, p := range found.Problems {
		c.note("%s", p)
	}
	return l.write(c, found)
}

func (l *logsCmd) sources() []logs.Source {
	sources := make([]logs.Source, 0, len(l.Sources))
	for _, arg := range l.Sources {
		sources = append(sources, logs.ParseSource(arg))
	}
	return sources
}

// check refuses a comparison that lacks a side, and with --strict any defect. Who
// only watched may have seen nothing yet.
func (l *logsCmd) check(found *logs.Logs) error {
	watched := l.Follow && l.Output == "" && l.Figures == ""
	if len(found.Silent) > 0 && !watched {
		return badInput(silence(found.Silent[0]))
	}
	if l.Strict && len(found.Problems) > 0 {
		return badInput(fmt.Errorf("logs: %w", found.Problems[0]))
	}
	return nil
}

// silence says why a source has no metric line.
func silence(s logs.Silent) error {
	switch {
	case s.Files == 0:
		return fmt.Errorf("logs: %s: no log is in it: want *.log, *.out, *.err, *.txt or metrics*.jsonl, or the file by its name", s.Path)
	case s.Problem != nil:
		return fmt.Errorf("logs: %s: no metric line (step:N - name:value - …) in it; %w", s.Path, s.Problem)
	default:
		return fmt.Errorf("logs: %s: no metric line (step:N - name:value - …) in it", s.Path)
	}
}

// write makes the table, the figures, and the result.
func (l *logsCmd) write(c *console, found *logs.Logs) error {
	result := logsResult{Files: found.Files, Columns: len(found.Columns), Runs: found.Summaries(), Problems: found.Problems}
	if result.Problems == nil {
		result.Problems = []logs.Problem{} // a list in JSON, also when empty
	}
	for _, r := range found.Runs {
		result.Rows += len(r.Rows)
	}
	var figures []logs.Figure
	if l.Figures != "" { // before the table, for a wrong --baseline leaves nothing behind
		var err error
		if figures, err = found.Figures(logs.FigureOptions{Baseline: l.Baseline, Connect: l.Connect}); err != nil {
			return badInput(err)
		}
	}
	if l.Output == "" && !l.Follow {
		l.Output = "combined_metrics.csv"
	}
	table := func(w io.Writer) error { return l.table(w, found) }
	switch l.Output {
	case "":
	case "-":
		if c.json {
			return usagef("logs: -o - and --json both want stdout")
		}
		return errors.Join(table(c.out), l.draw(c, figures, &result))
	default:
		if err := atomicfile.Write(l.Output, table); err != nil {
			return err
		}
		result.CSV = l.Output
	}
	if err := l.draw(c, figures, &result); err != nil {
		return err
	}
	return c.result(result, func(w io.Writer) error { return l.print(w, result) })
}

func (l *logsCmd) table(w io.Writer, found *logs.Logs) error {
	if l.Columns == "published" {
		return found.WritePublishedCSV(w)
	}
	labelled := len(found.Runs) > 1
	for _, s := range l.sources() {
		labelled = labelled || s.Name != ""
	}
	return found.WriteCSV(w, logs.Table{Runs: labelled, All: l.Attempts})
}

func (l *logsCmd) draw(c *console, figures []logs.Figure, result *logsResult) error {
	if l.Figures == "" {
		return nil
	}
	saved, err := logs.SaveFigures(l.Figures, figures)
	if err != nil {
		return err
	}
	for _, s := range saved {
		if s.Skipped != "" {
			c.note("figure %s is skipped: %s", s.Name, s.Skipped)
		}
	}
	result.Figures = saved
	return nil
}

func (l *logsCmd) print(w io.Writer, result logsResult) error {
	if !l.Follow { // which has shown it
		fmt.Fprint(w, logs.View(result.Runs, 100))
	}
	if result.CSV != "" {
		fmt.Fprintf(w, "\n%d rows of %d metrics in %s\n", result.Rows, result.Columns, result.CSV)
	}
	for _, f := range result.Figures {
		if f.SVG != "" {
			fmt.Fprintf(w, "%s, %s\n", f.SVG, f.PNG)
		}
	}
	return nil
}
