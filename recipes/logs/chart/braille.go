package chart

import (
	"fmt"
	"math"
	"strings"
)

const ansiReset = "\x1b[0m"

// ansi starts the colour of the i-th series: blue, yellow, green, magenta, cyan,
// red.
func ansi(i int) string {
	codes := [...]int{94, 33, 32, 35, 36, 31}
	return fmt.Sprintf("\x1b[%dm", codes[i%len(codes)])
}

// braille is a grid of characters of 2 by 4 dots each.
type braille struct {
	cols, rows int
	dots       []rune // bits of U+2800 per character
	owner      []int  // the series seen in a character, -1 none
}

func newBraille(cols, rows int) *braille {
	b := &braille{cols: cols, rows: rows, dots: make([]rune, cols*rows), owner: make([]int, cols*rows)}
	for i := range b.owner {
		b.owner[i] = -1
	}
	return b
}

// set lights the dot x from the left and y from the top.
func (b *braille) set(series, x, y int) {
	if x < 0 || y < 0 || x >= 2*b.cols || y >= 4*b.rows {
		return
	}
	bits := [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}
	cell := y/4*b.cols + x/2
	b.dots[cell] |= bits[y%4][x%2]
	if b.owner[cell] < 0 {
		b.owner[cell] = series
	}
}

// curve draws a series over the given ranges, broken where it is.
func (b *braille) curve(series int, s Series, xmin, xmax, ymin, ymax float64) {
	place := func(p Point) (x, y float64) {
		return (p.X - xmin) / (xmax - xmin) * float64(2*b.cols-1), (ymax - p.Y) / (ymax - ymin) * float64(4*b.rows-1)
	}
	for _, segment := range segments(s.Points) {
		points := thin(segment)
		x0, y0 := place(points[0])
		for _, p := range points {
			x1, y1 := place(p)
			b.stroke(series, x0, y0, x1, y1)
			x0, y0 = x1, y1
		}
	}
}

// stroke lights the dots between two places.
func (b *braille) stroke(series int, x0, y0, x1, y1 float64) {
	n := int(math.Ceil(max(math.Abs(x1-x0), math.Abs(y1-y0), 1)))
	for i := range n + 1 {
		t := float64(i) / float64(n)
		b.set(series, int(math.Round(x0+t*(x1-x0))), int(math.Round(y0+t*(y1-y0))))
	}
}

// row is one line of characters.
func (b *braille) row(r int, color bool) string {
	var line strings.Builder
	current := -1
	for c := range b.cols {
		cell := r*b.cols + c
		if owner := b.owner[cell]; color && owner != current {
			if current >= 0 {
				line.WriteString(ansiReset)
			}
			if owner >= 0 {
				line.WriteString(ansi(owner))
			}
			current = owner
		}
		if b.dots[cell] == 0 {
			line.WriteByte(' ')
		} else {
			line.WriteRune(0x2800 + b.dots[cell])
		}
	}
	if current >= 0 {
		line.WriteString(ansiReset)
	}
	return strings.TrimRight(line.String(), " ")
}
