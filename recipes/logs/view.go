package logs

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/coderl/cr/internal/amount"
	"github.com/coderl/cr/recipes/logs/chart"
)

// View is the runs as text: a table with a curve in small for each quantity.
func View(summaries []RunSummary, width int) string {
	var out strings.Builder
	for i, s := range summaries {
		if i > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintln(&out, headlineOf(s))
		out.WriteString(quantities(s.Headlines, width))
	}
	return out.String()
}

func headlineOf(s RunSummary) string {
	text := fmt.Sprintf("%s: steps %d to %d", s.Name, s.First, s.Last)
	if s.Attempts > 1 {
		text += fmt.Sprintf(", %d starts, %s trained again", s.Attempts, amount.Of(s.Superseded, "row"))
	}
	if s.Speculative {
		text += ", speculative"
	}
	if s.Origin != "" {
		text += ", from " + s.Origin
	}
	return text
}

// quantities is a line a quantity: its name, first and last value, and curve.
func quantities(headlines []Headline, width int) string {
	const figures = 11
	label := 0
	for _, h := range headlines {
		label = max(label, utf8.RuneCountInString(h.Title))
	}
	label = min(label, 32)
	curve := max(8, min(40, width-label-2*figures-6))
	var out strings.Builder
	for _, h := range headlines {
		values := make([]float64, len(h.Series.Points))
		for i, p := range h.Series.Points {
			values[i] = p.Y
		}
		title := []rune(h.Title)
		if len(title) > label {
			title = append(title[:label-1], '…')
		}
		pad := strings.Repeat(" ", label-len(title))
		fmt.Fprintf(&out, "  %s%s %*s → %-*s %s\n", string(title), pad, figures-2, short(h.First), figures-2, short(h.Last), chart.Sparkline(values, curve))
	}
	return out.String()
}

// short is a value in about four digits.
func short(n JSONNumber) string { return fmt.Sprintf("%.4g", float64(n)) }

// Curve is the reward of the runs, or else their loss, as a line chart of text;
// empty while neither was logged.
func Curve(runs []*Run, width, height int, color bool) string {
	for _, q := range progress() {
		if q.title != reward().title && q.title != "Loss" {
			continue
		}
		var series []chart.Series
		for _, r := range runs {
			if s := r.quantitySeries(r.Name, q, false); hasFinite(s) {
				series = append(series, s)
			}
		}
		if len(series) > 0 {
			return chart.Terminal(q.title+" ("+q.unit+")", series, width, height, color)
		}
	}
	return ""
}

// StepText is a step of a run as one plain line with its headline quantities.
func (r *Run) StepText(row Row) string {
	text := fmt.Sprintf("%s step %d", r.Name, row.Step)
	for _, q := range append(progress(), acceptanceRate(), acceptanceLength()) {
		if v, ok := r.Value(row, r.metricOf(q)); ok {
			text += fmt.Sprintf(", %s %.4g", strings.ToLower(q.title), v)
		}
	}
	return text
}
