package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// niceTicks places about count ticks at multiples of 1, 2 or 5 times a power of
// ten.
type niceTicks struct {
	count   int
	integer bool // steps: no tick between two of them
}

// Ticks returns the ticks between lo and hi.
func (n niceTicks) Ticks(lo, hi float64) []plot.Tick {
	count := n.count
	if n.integer { // fewer where the numbers are long
		count = max(2, min(count, 30/len(strconv.FormatFloat(math.Abs(hi), 'f', 0, 64))))
	}
	step := niceStep((hi - lo) / float64(count))
	if n.integer {
		step = max(1, math.Round(step))
	}
	var ticks []plot.Tick
	for i := math.Ceil(lo/step - 1e-6); i*step <= hi+step*1e-6; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: tickLabel(i*step, step)})
	}
	return ticks
}

// niceStep is the smallest of 1, 2, 5 times a power of ten that is at least raw.
func niceStep(raw float64) float64 {
	if !(raw > 0) || math.IsInf(raw, 1) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= raw*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// tickLabel writes v with the digits that tell it from its neighbours, large
// values in thousands, millions and so on.
func tickLabel(v, step float64) string {
	if v == 0 {
		return "0"
	}
	unit, suffix := 1.0, ""
	for _, u := range []struct {
		size   float64
		suffix string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= u.size && (math.Abs(v) >= 1e4 || step >= u.size) {
			unit, suffix = u.size, u.suffix
			break
		}
	}
	if a := math.Abs(v); a < 1e-3 || a >= 1e13 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	digits := func() int { return max(0, int(math.Ceil(-math.Log10(step/unit)-1e-9))) }
	if digits() > 3 {
		unit, suffix = 1, "" // 1000005, not 1.000005M
	}
	return strconv.FormatFloat(v/unit, 'f', digits(), 64) + suffix
}
