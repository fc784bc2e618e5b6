package chart

import (
	"image/color"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// swatch is the length of the line that stands beside a name.
const swatch = 26

func whiteGround() color.Color { return color.White }

// legendLines breaks the names into lines of at most width.
func (f *Figure) legendLines(width vg.Length) [][]string {
	var lines [][]string
	var used vg.Length
	for _, name := range f.names() {
		w := min(entryWidth(name), width)
		if len(lines) == 0 || used+w > width {
			lines, used = append(lines, nil), 0
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], name)
		used += w
	}
	return lines
}

// Room beside a name: to its swatch, and to the next entry.
const (
	swatchGap = 6
	entryGap  = 18
)

func entryWidth(name string) vg.Length {
	style := textStyle(10, false)
	return swatch + swatchGap + style.Width(name) + entryGap
}

// drawEntry draws an entry within width.
func drawEntry(dc draw.Canvas, x, y, width vg.Length, name string, l look) {
	dc.StrokeLine2(l.line(vg.Points(1.8)), x, y, x+swatch, y)
	dc.DrawGlyph(draw.GlyphStyle{Color: l.color, Radius: vg.Points(2.4), Shape: l.glyph}, vg.Point{X: x + swatch/2, Y: y})
	style := textStyle(10, false)
	style.YAlign = text.YCenter
	dc.FillText(style, vg.Point{X: x + swatch + swatchGap, Y: y}, fit(name, style, width-swatch-swatchGap))
}
