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

// TestMovingMean holds the sums of prefixes to sums of windows.
func TestMovingMean(t *testing.T) {
	var points []Point
	for i := range 23 {
		points = append(points, Point{X: float64(i), Y: math.Sin(float64(i * i))})
	}
	for i, got := range movingMean(points, 4) {
		h := min(4, i, len(points)-1-i)
		sum := 0.0
		for _, p := range points[i-h : i+h+1] {
			sum += p.Y
		}
		if want := sum / float64(2*h+1); math.Abs(got.Y-want) > 1e-12 || got.X != points[i].X {
			t.Errorf("%d: %v, want %v", i, got, want)
		}
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
