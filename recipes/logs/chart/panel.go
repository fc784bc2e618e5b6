package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// markersUpTo is the number of points up to which each gets a marker.
const markersUpTo = 40

// newPlot makes the axes of a panel and puts its curves on them.
func newPlot(p Panel, xmin, xmax float64, looks map[string]look) *plot.Plot {
	out := plot.New()
	out.X.Label.Text = p.XLabel
	out.Y.Label.Text = fit(p.YLabel, textStyle(labelSize, false), labelRoom)
	if p.XLabel == "" {
		out.X.Label.Text = "step"
	}
	styleAxis(&out.X, text.XCenter, text.YTop)
	styleAxis(&out.Y, text.XRight, text.YCenter)
	out.X.Tick.Marker, out.Y.Tick.Marker = niceTicks{count: 7, integer: true}, niceTicks{count: 7}
	out.X.Min, out.X.Max = widen(xmin, xmax, 0.02, 0.5)
	setRange(out, p)
	out.Add(curves{panel: p, looks: looks})
	return out
}

// labelSize is the size of an axis's label, labelRoom the length that the one of
// a y axis may have.
const (
	labelSize = 10
	labelRoom = panelHeight - 60
)

func styleAxis(a *plot.Axis, xAlign text.XAlignment, yAlign text.YAlignment) {
	a.Label.TextStyle.Font, a.Label.TextStyle.Color = sans(labelSize, false), ink()
	a.Tick.Label.Font, a.Tick.Label.Color = sans(9, false), ink()
	a.Tick.Label.XAlign, a.Tick.Label.YAlign = xAlign, yAlign
	a.Color, a.Tick.Color = ink(), ink()
	a.Width, a.Tick.Width = vg.Points(0.75), vg.Points(0.75)
	a.Tick.Length = vg.Points(4)
	a.Padding = 0
}

// setRange gives the y axis the range of the data and a margin; equal values get
// a range around them.
func setRange(out *plot.Plot, p Panel) {
	_, _, ymin, ymax, ok := bounds(p.Series)
	if !ok {
		ymin, ymax = 0, 1
	}
	if p.Reference != 0 {
		ymin, ymax = min(ymin, p.Reference), max(ymax, p.Reference)
	}
	out.Y.Min, out.Y.Max = widen(ymin, ymax, 0.06, 0.1*math.Abs(ymin))
	if ymin >= 0 && out.Y.Min < 0 {
		out.Y.Min = 0 // a margin must not suggest that the quantity can be negative
	}
	if p.Min < p.Max {
		out.Y.Min, out.Y.Max = p.Min, p.Max
	}
}

// widen adds a margin to both sides, alone where lo and hi are the same value.
func widen(lo, hi, share, alone float64) (wideLo, wideHi float64) {
	if hi-lo <= 1e-12*max(math.Abs(lo), math.Abs(hi)) {
		if alone == 0 {
			alone = 0.5
		}
		return lo - alone, hi + alone
	}
	margin := share * (hi - lo)
	return lo - margin, hi + margin
}

// curves draws the grid and the series of a panel.
type curves struct {
	panel Panel
	looks map[string]look
}

// Plot draws on the data area of a plot.
func (c curves) Plot(dc draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&dc)
	c.grid(dc, p, x, y)
	for _, s := range c.panel.Series {
		pen := pen{canvas: dc, x: x, y: y, look: c.looks[s.Name]}
		if s.Interval {
			pen.intervals(s)
		}
		pen.series(s)
	}
}

func (c curves) grid(dc draw.Canvas, p *plot.Plot, x, y func(float64) vg.Length) {
	style := draw.LineStyle{Color: grid(), Width: vg.Points(0.5)}
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		dc.StrokeLine2(style, x(t.Value), dc.Min.Y, x(t.Value), dc.Max.Y)
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		dc.StrokeLine2(style, dc.Min.X, y(t.Value), dc.Max.X, y(t.Value))
	}
	if r := c.panel.Reference; r != 0 {
		dc.StrokeLine2(draw.LineStyle{Color: ink(), Width: vg.Points(0.75), Dashes: []vg.Length{4, 3}}, dc.Min.X, y(r), dc.Max.X, y(r))
	}
}

// pen draws one series.
type pen struct {
	canvas draw.Canvas
	x, y   func(float64) vg.Length
	look   look
}

func (p pen) at(x, y float64) vg.Point { return vg.Point{X: p.x(x), Y: p.y(y)} }

func (p pen) series(s Series) {
	total := count(s.Points)
	for _, segment := range segments(s.Points) {
		switch {
		case s.Smooth && total >= smoothFrom && len(segment) > 2:
			p.line(segment, draw.LineStyle{Color: p.look.faded(0x60), Width: vg.Points(0.6)})
			p.line(movingMean(segment, max(2, total/40)), p.look.line(vg.Points(1.8)))
		default:
			p.line(segment, p.look.line(vg.Points(1.5)))
			if total <= markersUpTo || len(segment) == 1 {
				p.markers(segment)
			}
		}
	}
}

func (p pen) line(segment []Point, style draw.LineStyle) {
	points := make([]vg.Point, 0, len(segment))
	for _, q := range thin(segment) {
		points = append(points, p.at(q.X, q.Y))
	}
	p.canvas.StrokeLines(style, p.canvas.ClipLinesXY(points)...)
}

func (p pen) markers(segment []Point) {
	style := draw.GlyphStyle{Color: p.look.color, Radius: vg.Points(2.2), Shape: p.look.glyph}
	for _, q := range segment {
		if at := p.at(q.X, q.Y); p.canvas.Contains(at) {
			p.canvas.DrawGlyph(style, at)
		}
	}
}

// intervals draws a band through long stretches and a bar at lone points.
func (p pen) intervals(s Series) {
	for _, segment := range segments(s.Points) {
		var upper, lower []vg.Point
		for _, q := range segment {
			if finite(q.Low) && finite(q.High) {
				upper = append(upper, p.at(q.X, q.High))
				lower = append(lower, p.at(q.X, q.Low))
			}
		}
		for i := range upper {
			bar := []vg.Point{upper[i], lower[i]}
			p.canvas.StrokeLines(draw.LineStyle{Color: p.look.faded(0xA0), Width: vg.Points(0.9)}, p.canvas.ClipLinesY(bar)...)
		}
		if len(upper) > 1 {
			outline := upper
			for i := len(lower) - 1; i >= 0; i-- {
				outline = append(outline, lower[i])
			}
			p.canvas.FillPolygon(p.look.faded(0x30), p.canvas.ClipPolygonY(outline))
		}
	}
}
