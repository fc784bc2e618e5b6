// Package runlog records a training run as it goes, for people and programs: a
// console line a step in verl's grammar, metrics.jsonl, timing.jsonl, and
// TensorBoard event files.
//
// What depends on the clock is kept apart: metrics.jsonl holds nothing that two
// runs with the same settings would differ in, so that a run which was killed
// and resumed leaves the same bytes. The rest is in timing.jsonl.
package runlog

import (
	"math"
	"strconv"
	"strings"
)

// Metric is one number of a step, named as verl names it.
type Metric struct {
	Key   string
	Value float64
	whole bool // written without a point
	clock bool // depends on the clock: for timing.jsonl
}

// Number is a metric that depends on the run's settings alone.
func Number(key string, value float64) Metric { return Metric{Key: key, Value: value} }

// Count is a whole number.
func Count(key string, n int64) Metric { return Metric{Key: key, Value: float64(n), whole: true} }

// Clock is a metric that depends on how fast the machine was.
func Clock(key string, value float64) Metric { return Metric{Key: key, Value: value, clock: true} }

// text is the value as Python's repr writes it, which is what tools that read
// verl's logs expect: 0.5, 1.0, 1e-06, nan, inf.
func (m Metric) text() string {
	v := m.Value
	switch {
	case m.whole:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	if size := math.Abs(v); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// json is the value in JSON; what JSON has no number for is null.
func (m Metric) json() string {
	if math.IsNaN(m.Value) || math.IsInf(m.Value, 0) {
		return "null"
	}
	return m.text()
}

// Line is a step's console line: step:N - key:value - …
func Line(step int, metrics []Metric) string {
	var b strings.Builder
	b.WriteString("step:" + strconv.Itoa(step))
	for _, m := range metrics {
		b.WriteString(" - " + m.Key + ":" + m.text())
	}
	return b.String()
}
