package chart

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi  float64
		count   int
		integer bool
		want    string
	}{
		{0, 1, 5, false, "0 0.2 0.4 0.6 0.8 1.0"},
		{0.21, 0.46, 7, false, "0.25 0.30 0.35 0.40 0.45"},
		{-1, 1, 4, false, "-1.0 -0.5 0 0.5 1.0"},
		{1, 3, 7, true, "1 2 3"},
		{0, 240, 6, true, "0 50 100 150 200"},
		{2400, 4000, 4, false, "2500 3000 3500 4000"},
		{0, 1e6, 5, false, "0 200k 400k 600k 800k 1.0M"},
		{0, 4000, 4, false, "0 1k 2k 3k 4k"},
		{1e-6, 3e-6, 2, false, "1e-06 2e-06 3e-06"},
		{5, 5, 3, false, "5"},
		{1000000, 1000030, 7, true, "1000000 1000010 1000020 1000030"},
		{100000, 100000.002, 2, false, "100000.000 100000.001 100000.002"},
	} {
		var labels []string
		for _, tick := range (niceTicks{c.count, c.integer}).Ticks(c.lo, c.hi) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

// TestMovingMean holds it to the mean of each window, and at the ends to the line
// with the least squares.
func TestMovingMean(t *testing.T) {
	const half = 4
	var points []Point
	for i := range 23 {
		points = append(points, Point{X: float64(i), Y: math.Sin(float64(i * i))})
	}
	for i, got := range movingMean(points, half) {
		lo, hi := max(0, i-half), min(len(points), i+half+1)
		if hi-lo == 2*half+1 {
			sum := 0.0
			for _, p := range points[lo:hi] {
				sum += p.Y
			}
			if want := sum / float64(hi-lo); math.Abs(got.Y-want) > 1e-12 || got.X != points[i].X {
				t.Errorf("%d: %v, want %v", i, got, want)
			}
			continue
		}
		if want := lineAt(points[lo:hi], points[i].X); math.Abs(got.Y-want) > 1e-9 {
			t.Errorf("%d: %v, want %v", i, got.Y, want)
		}
	}
	rising := movingMean([]Point{{X: 0, Y: 1}, {X: 1, Y: 3}, {X: 2, Y: 5}, {X: 3, Y: 7}, {X: 4, Y: 9}}, 2)
	for i, p := range rising {
		if math.Abs(p.Y-float64(1+2*i)) > 1e-12 {
			t.Errorf("a straight line becomes %v", rising)
		}
	}
}

// lineAt is the line of least squares at x, by the normal equations.
func lineAt(points []Point, x float64) float64 {
	var n, sx, sy, sxx, sxy float64
	for _, p := range points {
		n, sx, sy, sxx, sxy = n+1, sx+p.X, sy+p.Y, sxx+p.X*p.X, sxy+p.X*p.Y
	}
	slope := (n*sxy - sx*sy) / (n*sxx - sx*sx)
	return (sy-slope*sx)/n + slope*x
}

// TestFit: what is shortened fits, keeps both ends, and nothing else is shortened.
func TestFit(t *testing.T) {
	style := textStyle(10, false)
	const name = "qwen3-1.7b-eagle3-k3-angelslim-drafter-temperature-0.9"
	for width := style.Width("…"); width < style.Width(name)+10; width += 7 {
		got := fit(name, style, width)
		head, tail, cut := strings.Cut(got, "…")
		if style.Width(got) > width || cut == (style.Width(name) <= width) || !strings.HasPrefix(name, head) || !strings.HasSuffix(name, tail) {
			t.Errorf("in %v: %q", width, got)
		}
	}
	if got := strings.Join(wrap("one two\nthree "+name, style, style.Width("one two ")), "|"); !strings.HasPrefix(got, "one two|three|qw") {
		t.Errorf("wrapped %q", got)
	}
}

func TestThin(t *testing.T) {
	var points []Point
	for i := range 10_000 {
		points = append(points, Point{X: float64(i), Y: float64(i % 7)})
	}
	points[4321].Y, points[8765].Y = 99, -99
	kept := thin(points)
	found := fmt.Sprint(kept)
	if len(kept) > maxPoints || kept[0] != points[0] || kept[len(kept)-1] != points[len(points)-1] ||
		!strings.Contains(found, "{4321 99") || !strings.Contains(found, "{8765 -99") {
		t.Errorf("%d points, ends %v %v", len(kept), kept[0], kept[len(kept)-1])
	}
	for i := 1; i < len(kept); i++ {
		if kept[i].X <= kept[i-1].X {
			t.Fatalf("%v comes after %v", kept[i], kept[i-1])
		}
	}
}
