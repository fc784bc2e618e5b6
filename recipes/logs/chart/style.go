package chart

import (
	"image/color"

	xfont "golang.org/x/image/font"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// okabeIto is the n-th colour of Okabe and Ito's palette, yellow left out because
// it vanishes on white.
func okabeIto(n int) color.NRGBA {
	palette := [...]color.NRGBA{
		{R: 0x00, G: 0x72, B: 0xB2, A: 0xFF}, // blue
		{R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF}, // vermilion
		{R: 0x00, G: 0x9E, B: 0x73, A: 0xFF}, // green
		{R: 0xCC, G: 0x79, B: 0xA7, A: 0xFF}, // purple
		{R: 0xE6, G: 0x9F, B: 0x00, A: 0xFF}, // orange
		{R: 0x56, G: 0xB4, B: 0xE9, A: 0xFF}, // sky blue
		{R: 0x33, G: 0x33, B: 0x33, A: 0xFF}, // near black
	}
	return palette[n%len(palette)]
}

// look is how the n-th name of a figure is drawn.
type look struct {
	color  color.NRGBA
	dashes []vg.Length
	glyph  draw.GlyphDrawer
}

func lookOf(n int) look {
	dashes := [...][]vg.Length{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}}
	glyphs := [...]draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}}
	return look{color: okabeIto(n), dashes: dashes[n%len(dashes)], glyph: glyphs[n%len(glyphs)]}
}

func (l look) line(width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: l.color, Width: width, Dashes: l.dashes}
}

// faded is the colour, alpha of it over what is below.
func (l look) faded(alpha uint8) color.NRGBA {
	c := l.color
	c.A = alpha
	return c
}

// ink is the grey of axes and text; grid the one of the lines behind the curves.
func ink() color.Color  { return color.Gray{Y: 0x33} }
func grid() color.Color { return color.Gray{Y: 0xE4} }

// sans is Liberation Sans of a size in points, which the library carries.
func sans(size vg.Length, bold bool) font.Font {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return f
}

func textStyle(size vg.Length, bold bool) text.Style {
	return text.Style{
		Color: ink(), Font: sans(size, bold), XAlign: text.XLeft, YAlign: text.YBottom,
		Handler: text.Plain{Fonts: font.DefaultCache},
	}
}
