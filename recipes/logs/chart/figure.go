package chart

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Sizes of a figure, in points.
const (
	panelWidth  = 290
	panelHeight = 210
	aloneWidth  = 480 // of the only panel
	aloneHeight = 300
	margin      = 14
	pngDPI      = 144
)

// WriteSVG writes the figure as SVG, its text as text.
func (f *Figure) WriteSVG(w io.Writer) error {
	width, height := f.size()
	canvas := vgsvg.New(width, height)
	f.draw(draw.New(canvas))
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return fmt.Errorf("draw %q as SVG: %w", f.Title, err)
	}
	// Where Liberation Sans is not installed a viewer shall take another sans.
	named := bytes.ReplaceAll(svg.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	if _, err := w.Write(named); err != nil {
		return fmt.Errorf("write the SVG: %w", err)
	}
	return nil
}

// WritePNG writes the figure as PNG.
func (f *Figure) WritePNG(w io.Writer) error {
	width, height := f.size()
	canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngDPI))
	f.draw(draw.New(canvas))
	if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(w); err != nil {
		return fmt.Errorf("write %q as PNG: %w", f.Title, err)
	}
	return nil
}

// tiles is the panels' arrangement: up to three side by side, rows as even as
// they can be.
func (f *Figure) tiles() (rows, cols int) {
	n := max(1, len(f.Panels))
	cols = min(n, 3)
	if n == 4 {
		cols = 2
	}
	return (n + cols - 1) / cols, cols
}

func (f *Figure) size() (width, height vg.Length) {
	rows, cols := f.tiles()
	pw, ph := vg.Length(panelWidth), vg.Length(panelHeight)
	if rows*cols == 1 {
		pw, ph = aloneWidth, aloneHeight
	}
	width = vg.Length(cols)*pw + 2*margin
	return width, vg.Length(rows)*ph + f.headHeight(width) + f.footHeight(width) + 2*margin
}

// draw puts title, legend, panels and note on a canvas of the figure's size.
func (f *Figure) draw(dc draw.Canvas) {
	dc.SetColor(whiteGround())
	dc.Fill(dc.Path())
	looks := map[string]look{}
	for i, name := range f.names() {
		looks[name] = lookOf(i)
	}
	width := dc.Max.X - dc.Min.X
	inner := draw.Crop(dc, margin, -margin, margin, -margin)
	f.drawHead(inner, looks)
	f.drawFoot(inner)
	f.drawPanels(draw.Crop(inner, 0, 0, f.footHeight(width), -f.headHeight(width)), looks)
}

func (f *Figure) drawPanels(dc draw.Canvas, looks map[string]look) {
	rows, cols := f.tiles()
	xmin, xmax := f.steps()
	grid := make([][]*plot.Plot, rows)
	for r := range grid {
		grid[r] = make([]*plot.Plot, cols)
		for c := range grid[r] {
			if i := r*cols + c; i < len(f.Panels) {
				grid[r][c] = newPlot(f.Panels[i], xmin, xmax, looks)
			}
		}
	}
	gap := vg.Length(titleGap)
	if !slices.ContainsFunc(f.Panels, func(p Panel) bool { return p.Title != "" }) {
		gap = 0
	}
	tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: vg.Points(16), PadY: gap + vg.Points(10), PadTop: gap, PadRight: vg.Points(6)}
	canvases := plot.Align(grid, tiles, dc)
	for r := range grid {
		for c, p := range grid[r] {
			if p != nil {
				p.Draw(canvases[r][c])
				drawTitle(p.DataCanvas(canvases[r][c]), f.Panels[r*cols+c].Title)
			}
		}
	}
}

// titleGap is the room for a panel's title above it.
const titleGap = 16

// drawTitle writes a panel's title above its data, at one height in a row of
// panels, which the library's own title is not.
func drawTitle(data draw.Canvas, title string) {
	style := textStyle(11, true)
	style.XAlign = text.XCenter
	data.FillText(style, vg.Point{X: (data.Min.X + data.Max.X) / 2, Y: data.Max.Y + 8}, fit(title, style, data.Max.X-data.Min.X))
}

// steps is the range of the x axes, one for all panels.
func (f *Figure) steps() (xmin, xmax float64) {
	var all []Series
	for _, p := range f.Panels {
		all = append(all, p.Series...)
	}
	xmin, xmax, _, _, ok := bounds(all)
	if !ok {
		return 0, 1
	}
	return xmin, xmax
}

// Heights of the title, of a line of the legend, and of a line of the note; the
// size of its letters.
const (
	titleHeight  = 24
	legendHeight = 17
	noteHeight   = 13
	noteSize     = 9
)

func (f *Figure) headHeight(width vg.Length) vg.Length {
	lines := len(f.legendLines(width - 2*margin))
	return titleHeight + vg.Length(lines)*legendHeight + 6
}

func (f *Figure) footHeight(width vg.Length) vg.Length {
	lines := wrap(f.Note, textStyle(noteSize, false), width-2*margin)
	if len(lines) == 0 {
		return 0
	}
	return vg.Length(len(lines))*noteHeight + 4
}

func (f *Figure) drawHead(dc draw.Canvas, looks map[string]look) {
	title := textStyle(14, true)
	title.XAlign, title.YAlign = text.XLeft, text.YTop
	dc.FillText(title, vg.Point{X: dc.Min.X, Y: dc.Max.Y}, fit(f.Title, title, dc.Max.X-dc.Min.X))
	y := dc.Max.Y - titleHeight - legendHeight/2
	for _, line := range f.legendLines(dc.Max.X - dc.Min.X) {
		x := dc.Min.X
		for _, name := range line {
			drawEntry(dc, x, y, dc.Max.X-dc.Min.X, name, looks[name])
			x += entryWidth(name)
		}
		y -= legendHeight
	}
}

func (f *Figure) drawFoot(dc draw.Canvas) {
	style := textStyle(noteSize, false)
	lines := wrap(f.Note, style, dc.Max.X-dc.Min.X)
	for i, line := range lines {
		dc.FillText(style, vg.Point{X: dc.Min.X, Y: dc.Min.Y + vg.Length(len(lines)-1-i)*noteHeight}, line)
	}
}
