package chart

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// Sparkline is the values as one line of at most width bars; a value that is not
// finite is a blank. Where there are more values than bars each bar is the mean
// of its share.
func Sparkline(values []float64, width int) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	cells := shares(values, width)
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range cells {
		if finite(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	var line strings.Builder
	for _, v := range cells {
		switch {
		case !finite(v):
			line.WriteByte(' ')
		case hi == lo:
			line.WriteRune(bars[3])
		default:
			line.WriteRune(bars[int(math.Round((v-lo)/(hi-lo)*7))])
		}
	}
	return line.String()
}

// shares is the mean of the finite values in each of at most width equal parts.
func shares(values []float64, width int) []float64 {
	if len(values) <= width {
		return values
	}
	means := make([]float64, max(0, width))
	for i := range means {
		sum, n := 0.0, 0
		for _, v := range values[i*len(values)/width : (i+1)*len(values)/width] {
			if finite(v) {
				sum += v
				n++
			}
		}
		means[i] = sum / float64(n) // none: not a number, a blank
	}
	return means
}

// Terminal is a line chart of text, width columns by height lines, axes, title
// and legend included. Curves are drawn with braille dots, eight to a character;
// where several meet in one character the first is seen. With color each series
// has its ANSI colour.
func Terminal(title string, series []Series, width, height int, color bool) string {
	width, height = max(width, 24), max(height, 6)
	var out strings.Builder
	if title != "" {
		fmt.Fprintln(&out, title)
	}
	xmin, xmax, ymin, ymax, ok := bounds(series)
	if !ok {
		return out.String() + "(no values yet)\n"
	}
	xmin, xmax = widen(xmin, xmax, 0, 0.5)
	ymin, ymax = widen(ymin, ymax, 0, 0.1*math.Abs(ymin))
	step := niceStep((ymax - ymin) / float64(min(6, height-3)))
	labels := axisLabels(ymin, ymax, step, height-3)
	gutter := 0
	for _, l := range labels {
		gutter = max(gutter, utf8.RuneCountInString(l))
	}
	grid := newBraille(width-gutter-2, height-3)
	for i := range series {
		grid.curve(i, series[i], xmin, xmax, ymin, ymax)
	}
	for row, label := range labels {
		fmt.Fprintf(&out, "%*s ┤%s\n", gutter, label, grid.row(row, color))
	}
	out.WriteString(xAxis(xmin, xmax, gutter, grid.cols))
	out.WriteString(terminalLegend(series, color))
	return out.String()
}

// axisLabels names the rows on which a multiple of step lies, the others stay
// empty.
func axisLabels(lo, hi, step float64, rows int) []string {
	labels := make([]string, rows)
	for row := range labels {
		top := hi - (hi-lo)*float64(row)/float64(rows)
		bottom := hi - (hi-lo)*float64(row+1)/float64(rows)
		if tick := math.Floor(top/step+1e-9) * step; tick >= bottom-1e-9*step {
			labels[row] = tickLabel(tick, step)
		}
	}
	return labels
}

// xAxis is the line below the curves with the first and last step.
func xAxis(lo, hi float64, gutter, cols int) string {
	first, last := fmt.Sprintf("%.0f", math.Ceil(lo)), fmt.Sprintf("step %.0f", math.Floor(hi))
	gap := max(1, cols-len(first)-len(last))
	indent := strings.Repeat(" ", gutter+2)
	return fmt.Sprintf("%*s └%s\n%s%s%s%s\n", gutter, "", strings.Repeat("─", cols), indent, first, strings.Repeat(" ", gap), last)
}

// terminalLegend names the series, and gives the last value of each.
func terminalLegend(series []Series, color bool) string {
	var entries []string
	for i, s := range series {
		mark := "•"
		if color {
			mark = ansi(i) + mark + ansiReset
		}
		entry := mark + " " + s.Name
		if last, ok := lastFinite(s.Points); ok {
			entry += fmt.Sprintf(" %.4g", last)
		}
		entries = append(entries, entry)
	}
	return strings.Join(entries, "   ") + "\n"
}

func lastFinite(points []Point) (float64, bool) {
	for i := len(points) - 1; i >= 0; i-- {
		if finite(points[i].Y) {
			return points[i].Y, true
		}
	}
	return 0, false
}
