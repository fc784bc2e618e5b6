// Package chart draws curves over training steps: as SVG and PNG figures of one
// or several panels, and as text for a terminal.
//
// A curve is broken where a value is not finite, so a diverged or restarted run
// shows as what it is. Colours are those of Okabe and Ito, which people with any
// of the usual colour deficiencies can tell apart; dashes and markers differ too.
package chart

import "math"

// Point is one value of a curve. A Y that is not finite breaks the curve there.
type Point struct {
	X, Y      float64
	Low, High float64 // the interval around Y, where the series has one
}

// Gap is a point that breaks a curve without a value of its own.
func Gap(x float64) Point { return Point{X: x, Y: math.NaN()} }

// Series is one curve. Series of one name have one colour in all panels of a
// figure and one entry in its legend.
type Series struct {
	Name     string
	Points   []Point // ascending X
	Interval bool    // Low and High are drawn: a band, or bars where points are few
	Smooth   bool    // many points: thin as they are, thick their moving mean
}

// Panel is one pair of axes.
type Panel struct {
	Title  string
	XLabel string // "step" when empty
	YLabel string // with its unit
	Series []Series
	// Min and Max bound the y axis where they differ; else the data does.
	Min, Max float64
	// Reference is a horizontal line to compare with, drawn where it is not 0.
	Reference float64
}

// Figure is a titled set of panels with one legend.
type Figure struct {
	Title  string
	Note   string // below the panels: how to read what is not obvious
	Panels []Panel
}

// StepCurve is the figure of one quantity over training steps, as pass@1 of a
// run's checkpoints.
func StepCurve(title, yLabel string, series ...Series) *Figure {
	return &Figure{Title: title, Panels: []Panel{{YLabel: yLabel, Series: series}}}
}

// names are the series' names in the order of their first appearance.
func (f *Figure) names() []string {
	var names []string
	seen := map[string]bool{}
	for _, p := range f.Panels {
		for _, s := range p.Series {
			if !seen[s.Name] {
				seen[s.Name] = true
				names = append(names, s.Name)
			}
		}
	}
	return names
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// segments are the unbroken stretches of a curve.
func segments(points []Point) [][]Point {
	var all [][]Point
	start := 0
	for i := range points {
		if !finite(points[i].X) || !finite(points[i].Y) {
			if i > start {
				all = append(all, points[start:i])
			}
			start = i + 1
		}
	}
	if start < len(points) {
		all = append(all, points[start:])
	}
	return all
}

// bounds are the smallest and largest finite x and y of a panel's curves,
// intervals included; ok is false where there is none.
func bounds(series []Series) (xmin, xmax, ymin, ymax float64, ok bool) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, s := range series {
		for _, p := range s.Points {
			if !finite(p.X) || !finite(p.Y) {
				continue
			}
			ok = true
			xmin, xmax = min(xmin, p.X), max(xmax, p.X)
			ymin, ymax = min(ymin, p.Y), max(ymax, p.Y)
			if s.Interval && finite(p.Low) && finite(p.High) {
				ymin, ymax = min(ymin, p.Low), max(ymax, p.High)
			}
		}
	}
	return xmin, xmax, ymin, ymax, ok
}
