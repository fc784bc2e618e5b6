package chart_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/coderl/cr/recipes/logs/chart"
)

func TestSparkline(t *testing.T) {
	for _, c := range []struct {
		values []float64
		width  int
		want   string
	}{
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 20, "▁▂▃▄▅▆▇█"},
		{[]float64{0, 7, math.NaN(), 7, math.Inf(1)}, 20, "▁█ █ "},
		{[]float64{5, 5}, 20, "▄▄"},
		{[]float64{0, 0, 7, 7, 0, 0}, 3, "▁█▁"},
		{[]float64{math.NaN(), math.NaN(), 1, 2}, 2, " ▄"},
		{nil, 20, ""},
		{[]float64{1, 2}, 0, ""},
	} {
		if got := chart.Sparkline(c.values, c.width); got != c.want {
			t.Errorf("%v in %d: %q, want %q", c.values, c.width, got, c.want)
		}
	}
}

func TestTerminal(t *testing.T) {
	s := line("reward", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	got := chart.Terminal("Reward", []chart.Series{s}, 30, 8, false)
	const want = `Reward
8 ┤                      ⣀⠤⠔⠒⠉
6 ┤                ⣀⡠⠤⠒⠊⠉
4 ┤           ⣀⡠⠴⠊⠉
2 ┤     ⣀⡠⠤⠒⠊⠉
0 ┤⣀⠤⠔⠒⠉
  └───────────────────────────
   1                   step 10
• reward 9
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTerminalFits: no line is wider than asked for, at any size, and colours are
// ended on their line.
func TestTerminalFits(t *testing.T) {
	a, b := line("a", 1e-7, 5e-7, 3e-7), line("b", 2e-7, math.NaN(), 4e-7)
	for width := 24; width < 120; width += 7 {
		for height := 6; height < 30; height += 5 {
			text := chart.Terminal("", []chart.Series{a, b}, width, height, false)
			for l := range strings.SplitSeq(text, "\n") {
				if n := utf8.RuneCountInString(l); n > width {
					t.Fatalf("%d columns of %d: %q", n, width, l)
				}
			}
			for l := range strings.SplitSeq(chart.Terminal("", []chart.Series{a, b}, width, height, true), "\n") {
				if strings.LastIndex(l, "\x1b[0m") < strings.LastIndex(l, "\x1b[9") {
					t.Fatalf("a colour does not end: %q", l)
				}
			}
		}
	}
}

func TestTerminalWithoutValues(t *testing.T) {
	if got := chart.Terminal("Reward", []chart.Series{line("a", math.NaN())}, 40, 10, false); got != "Reward\n(no values yet)\n" {
		t.Errorf("%q", got)
	}
}
