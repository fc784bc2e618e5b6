package eval

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/coderl/cr/internal/amount"
)

// WriteSteps renders the table for a terminal, and under it what the last step
// says against the first.
func WriteSteps(w io.Writer, s Steps) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s: %s, %s a step\n", s.Benchmark, dataTitle(s.Data), amount.Of(s.Steps[0].Problems, "problem"), amount.Of(s.Steps[0].Samples, "sample"))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range s.table() {
		fmt.Fprintln(t, "  "+strings.Join(row, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(s.Steps) > 1 {
		fmt.Fprintln(&b, s.Conclusion())
	}
	for _, n := range s.Notices {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteStepsMarkdown renders the table and its conclusion for a model card.
func WriteStepsMarkdown(w io.Writer, s Steps) error {
	var b strings.Builder
	for i, row := range s.table() {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
		}
	}
	fmt.Fprintf(&b, "\n%s on %s: %s, %s a step.", s.Benchmark, dataTitle(s.Data), amount.Of(s.Steps[0].Problems, "problem"), amount.Of(s.Steps[0].Samples, "sample"))
	if len(s.Steps) > 1 {
		fmt.Fprintf(&b, " %s.", s.Conclusion())
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// table is the rows of both renderings, the heading first: each k of
// [Steps.HeadlineKs] with its interval, and the paired difference.
func (s Steps) table() [][]string {
	columns := s.HeadlineKs()
	heading := []string{"step"}
	for _, k := range columns {
		heading = append(heading, fmt.Sprintf("pass@%d", k), s.interval())
	}
	compared := len(s.Steps) > 1
	if compared {
		heading = append(heading, fmt.Sprintf("pass@1 against step %d", s.Steps[0].Step), s.interval())
	}
	rows := [][]string{heading}
	for _, step := range s.Steps {
		row := []string{strconv.Itoa(step.Step)}
		for _, k := range columns {
			row = append(row, shareAndInterval(step.PassAtK[strconv.Itoa(k)])...)
		}
		switch d := step.AgainstFirst; {
		case d != nil && d.unchanged(): // resampling would see no spread either
			row = append(row, "no problem changed", "")
		case d != nil:
			row = append(row, fmt.Sprintf("%+.1f points", 100*d.Difference.Value), fmt.Sprintf("%+.1f to %+.1f", 100*d.Difference.Low, 100*d.Difference.High))
		case compared:
			row = append(row, "", "")
		}
		rows = append(rows, row)
	}
	return rows
}

func (s Steps) interval() string { return fmt.Sprintf("%g %%", 100*s.Confidence) }

// HeadlineKs are the k of the table and the curve: 1 and the largest.
func (s Steps) HeadlineKs() []int {
	all := s.ks()
	if len(all) > 2 {
		return []int{all[0], all[len(all)-1]}
	}
	return all
}

// ks are the k that every step has an estimate of.
func (s Steps) ks() []int {
	var shared []int
	for _, k := range ks(s.Steps[0].PassAtK) {
		everywhere := true
		for _, step := range s.Steps {
			_, ok := step.PassAtK[strconv.Itoa(k)]
			everywhere = everywhere && ok
		}
		if everywhere {
			shared = append(shared, k)
		}
	}
	return shared
}

func shareAndInterval(e Estimate) []string {
	return []string{fmt.Sprintf("%.1f %%", 100*e.Value), fmt.Sprintf("%.1f to %.1f %%", 100*e.Low, 100*e.High)}
}

// Conclusion says in one line what the last step's pass@1 is against the first's:
// a rise or a fall only where the whole interval of the paired difference lies on
// one side of 0. It needs two steps.
func (s Steps) Conclusion() string {
	first, last := s.Steps[0], s.Steps[len(s.Steps)-1]
	d := last.AgainstFirst
	points := fmt.Sprintf("%+.1f points, %g %% interval %+.1f to %+.1f", 100*d.Difference.Value, 100*s.Confidence, 100*d.Difference.Low, 100*d.Difference.High)
	between := fmt.Sprintf("from step %d to step %d", first.Step, last.Step)
	switch {
	case d.unchanged():
		return fmt.Sprintf("no problem's score changed %s", between)
	case d.Difference.Low > 0:
		return fmt.Sprintf("pass@1 rose %s: %s", between, points)
	case d.Difference.High < 0:
		return fmt.Sprintf("pass@1 fell %s: %s", between, points)
	}
	text := fmt.Sprintf("no significant change of pass@1 %s: %s", between, points)
	if d.Detectable != nil {
		text += fmt.Sprintf("; the smallest change that these problems and samples could show is about %.1f points", 100**d.Detectable)
	}
	return text
}

// WriteStepsJSON writes all of it as one indented JSON object.
func WriteStepsJSON(w io.Writer, s Steps) error { return indentJSON(w, s) }

// WriteStepsCSV writes a row a step: every k, shares as numbers from 0 to 1. The
// columns of the difference are empty for the first step.
func WriteStepsCSV(w io.Writer, s Steps) error {
	out := csv.NewWriter(w)
	columns := s.ks()
	heading := []string{"step", "problems", "samples"}
	for _, k := range columns {
		name := fmt.Sprintf("pass@%d", k)
		heading = append(heading, name, name+"_stderr", name+"_low", name+"_high")
	}
	heading = append(heading, "difference", "difference_stderr", "difference_low", "difference_high", "mean_test_share",
		"infra_errors", "truncated", "no_code", "turns", "tool_calls", "completion_tokens")
	rows := [][]string{heading}
	for _, step := range s.Steps {
		row := integers(step.Step, step.Problems, step.Samples)
		for _, k := range columns {
			row = append(row, estimateCells(step.PassAtK[strconv.Itoa(k)])...)
		}
		if d := step.AgainstFirst; d != nil {
			row = append(row, estimateCells(d.Difference)...)
		} else {
			row = append(row, "", "", "", "")
		}
		row = append(row, decimal(step.MeanTestShare))
		rows = append(rows, append(row, integers(step.InfraErrors, step.Truncated, step.NoCode, step.Turns, step.ToolCalls, step.Tokens.Completion)...))
	}
	return out.WriteAll(rows)
}

func estimateCells(e Estimate) []string {
	stderr := ""
	if e.Stderr != nil {
		stderr = decimal(*e.Stderr)
	}
	return []string{decimal(e.Value), stderr, decimal(e.Low), decimal(e.High)}
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func integers(values ...int) []string {
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = strconv.Itoa(v)
	}
	return cells
}
