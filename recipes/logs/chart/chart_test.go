package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/coderl/cr/recipes/logs/chart"
)

func line(name string, ys ...float64) chart.Series {
	s := chart.Series{Name: name}
	for i, y := range ys {
		s.Points = append(s.Points, chart.Point{X: float64(i + 1), Y: y, Low: y - 0.1, High: y + 0.1})
	}
	return s
}

// texts parses an SVG and returns what it writes, and how many paths of a colour
// it draws.
func texts(t *testing.T, f *chart.Figure) (words []string, svg string) {
	t.Helper()
	var out bytes.Buffer
	if err := f.WriteSVG(&out); err != nil {
		t.Fatal(err)
	}
	svg = out.String()
	dec := xml.NewDecoder(strings.NewReader(svg))
	inText := false
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return words, svg
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				words = append(words, string(token))
			}
		}
	}
}

func picture(t *testing.T, f *chart.Figure) image.Image {
	t.Helper()
	var out bytes.Buffer
	if err := f.WritePNG(&out); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&out)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// pixels counts those of a colour.
func pixels(img image.Image, c color.NRGBA) int {
	n := 0
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if color.NRGBAModel.Convert(img.At(x, y)) == c {
				n++
			}
		}
	}
	return n
}

func blue() color.NRGBA      { return color.NRGBA{R: 0x00, G: 0x72, B: 0xB2, A: 0xFF} }
func vermilion() color.NRGBA { return color.NRGBA{R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF} }

func TestFigureLabels(t *testing.T) {
	f := &chart.Figure{Title: "Progress <of> two & more", Note: "a note", Panels: []chart.Panel{
		{Title: "Reward", YLabel: "mean score", Series: []chart.Series{line("plain", 0.1, 0.2, 0.4), line("fast", 0.2, 0.1, 0.3)}},
		{Title: "Time", YLabel: "seconds", XLabel: "epoch", Series: []chart.Series{line("plain", 12000, 14000, 16000)}},
	}}
	words, svg := texts(t, f)
	for _, want := range []string{"Progress <of> two & more", "a note", "Reward", "Time", "mean score", "seconds", "step", "epoch", "plain", "fast", "0.20", "14k"} {
		if !slices.Contains(words, want) {
			t.Errorf("%q is not in the figure: %q", want, words)
		}
	}
	if n := slices.Index(words, "plain"); slices.Contains(words[n+1:], "plain") {
		t.Error("a name stands twice in the legend")
	}
	if !strings.Contains(svg, "Liberation Sans,Arial") {
		t.Error("no font to fall back to")
	}
	img := picture(t, f)
	if pixels(img, blue()) < 500 || pixels(img, vermilion()) < 200 {
		t.Errorf("%d blue and %d vermilion pixels", pixels(img, blue()), pixels(img, vermilion()))
	}
}

// curves counts the stretches of the blue curve that are drawn.
func curves(svg string) int {
	n := 0
	for l := range strings.SplitSeq(svg, "\n") {
		if strings.Contains(l, "stroke:#0072B2;stroke-width:1.5") {
			n++
		}
	}
	return n
}

func TestGapsBreakCurves(t *testing.T) {
	for name, c := range map[string]struct {
		ys   []float64
		want int
	}{
		"whole":    {[]float64{1, 2, 3, 4, 5, 6}, 1},
		"nan":      {[]float64{1, 2, math.NaN(), 4, 5, 6}, 2},
		"infinite": {[]float64{1, 2, math.Inf(1), 4, 5, math.Inf(-1), 7, 8}, 3},
	} {
		_, svg := texts(t, chart.StepCurve("c", "y", line("a", c.ys...)))
		if got := curves(svg); got != c.want {
			t.Errorf("%s: %d stretches, want %d", name, got, c.want)
		}
	}
}

// TestOddData: nothing, one point, equal and extreme values make figures.
func TestOddData(t *testing.T) {
	for name, ys := range map[string][]float64{
		"nothing": nil, "one": {3}, "equal": {2, 2, 2}, "zero": {0, 0}, "only nan": {math.NaN(), math.NaN()},
		"huge": {1e300, -1e300}, "tiny": {1e-300, 2e-300}, "negative": {-5, -4},
	} {
		f := chart.StepCurve(name, "y", line("a", ys...))
		f.Panels[0].Series[0].Interval = true
		if words, _ := texts(t, f); !slices.Contains(words, name) {
			t.Errorf("%s: no title", name)
		}
		picture(t, f)
		chart.Terminal(name, f.Panels[0].Series, 40, 10, true)
	}
}

// TestIntervals: the band reaches from the lowest low to the highest high.
func TestIntervals(t *testing.T) {
	s := line("a", 0.5, 0.6, 0.7)
	if n := shaded(picture(t, chart.StepCurve("c", "pass@1", s))); n > 1000 {
		t.Errorf("%d pixels of a band without an interval", n)
	}
	s.Interval = true
	if n := shaded(picture(t, chart.StepCurve("c", "pass@1", s))); n < 20_000 {
		t.Errorf("%d pixels of the band", n)
	}
	if words, _ := texts(t, chart.StepCurve("c", "pass@1", s)); !slices.Contains(words, "0.8") && !slices.Contains(words, "0.80") || !slices.Contains(words, "0.4") && !slices.Contains(words, "0.40") {
		t.Errorf("the axis does not reach the interval: %q", words)
	}
}

// TestManyPoints: a long run makes a small file, with its only spike in it.
func TestManyPoints(t *testing.T) {
	s := chart.Series{Name: "a"}
	for i := range 200_000 {
		s.Points = append(s.Points, chart.Point{X: float64(i), Y: 0.5})
	}
	s.Points[123_456].Y = 7
	f := chart.StepCurve("c", "y", s)
	if _, svg := texts(t, f); len(svg) > 100_000 {
		t.Errorf("%d bytes", len(svg))
	}
	img := picture(t, f)
	upper := img.(interface {
		SubImage(image.Rectangle) image.Image
	}).SubImage(image.Rect(100, 150, img.Bounds().Dx(), img.Bounds().Dy()/2))
	if n := pixels(upper, blue()); n < 20 {
		t.Errorf("%d pixels of the spike", n)
	}
}

// shaded counts pixels of a blue band over white.
func shaded(img image.Image) int {
	n := 0
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA); c.R > 190 && c.R < 215 && c.G > 215 && c.G < 235 && c.B > 230 {
				n++
			}
		}
	}
	return n
}
