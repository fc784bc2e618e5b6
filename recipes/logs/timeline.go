package logs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// timeline is the rows of a run's attempts, by step.
type timeline struct {
	steps    []int64
	byStep   map[int64][]*row // in the order of the attempts
	attempts int
}

func newTimeline() *timeline { return &timeline{byStep: map[int64][]*row{}} }

// append adds a file's rows as attempts after those there are.
func (t *timeline) append(rows []row) {
	first := t.attempts + 1
	for i := range rows {
		r := rows[i]
		r.attempt += first
		t.attempts = max(t.attempts, r.attempt)
		t.put(&r)
	}
}

func (t *timeline) put(r *row) {
	if _, known := t.byStep[r.step]; !known {
		t.steps = append(t.steps, r.step)
	}
	t.byStep[r.step] = append(t.byStep[r.step], r)
}

// resolve is the row that stands for a step: the last that trained it, with the
// validations of later attempts over it. kept is the index of that row.
func resolve(rows []*row) (stands *row, kept int) {
	for i, r := range rows {
		if r.training {
			kept = i
		}
	}
	if kept == len(rows)-1 {
		return rows[kept], kept
	}
	joined := *rows[kept]
	joined.cells = slices.Clone(joined.cells)
	for _, later := range rows[kept+1:] {
		joined.take(later, true)
	}
	return &joined, kept
}

// rows are the rows that stand.
func (t *timeline) rows() []Row {
	slices.Sort(t.steps)
	all := make([]Row, 0, len(t.steps))
	for _, step := range t.steps {
		r, _ := resolve(t.byStep[step])
		all = append(all, Row{Step: step, Attempt: r.attempt, Training: r.training, row: r})
	}
	return all
}

// superseded are the rows that do not stand.
func (t *timeline) superseded() []Row {
	var all []Row
	for _, step := range t.steps {
		rows := t.byStep[step]
		_, kept := resolve(rows)
		for _, r := range rows[:kept] {
			all = append(all, Row{Step: step, Attempt: r.attempt, Training: r.training, row: r})
		}
	}
	return all
}

// overlay puts a metrics file over the consoles of the same run. A null of the
// file does not replace a console's nan or inf. Values that differ by more than
// rounding are no copy: that is told, once.
func (t *timeline) overlay(lane *timeline, from piece, names *columns) []Problem {
	var problems []Problem
	t.attempts = max(t.attempts, lane.attempts)
	for _, step := range lane.steps {
		r, _ := resolve(lane.byStep[step])
		rows := t.byStep[step]
		if len(rows) == 0 {
			t.put(r)
			continue
		}
		stands, kept := resolve(rows)
		joined := *stands
		joined.cells = slices.Clone(joined.cells)
		if column, differs := disagreement(&joined, r); differs && len(problems) == 0 {
			problems = append(problems, Problem{File: from.file.path, Line: r.line, Count: 1, What: fmt.Sprintf(
				"step %d: %s differs from another log of this run; the value here stands; label them as two runs with NAME=PATH if they are", step, names.names[column])})
		}
		known := row{cells: slices.DeleteFunc(slices.Clone(r.cells), func(c cell) bool { return math.IsNaN(c.value) })}
		joined.take(&known, true)
		joined.take(r, false)
		joined.training = joined.training || r.training
		t.byStep[step] = append(slices.Clone(rows[:kept]), &joined)
	}
	return problems
}

// disagreement is a metric in which two rows differ by more than a print of three
// decimals does, as older versions of verl have it.
func disagreement(a, b *row) (column int32, differs bool) {
	at := a.index()
	for _, c := range b.cells {
		i, has := at[c.column]
		if !has || !isFinite(c.value) || !isFinite(a.cells[i].value) {
			continue
		}
		v := a.cells[i].value
		if math.Abs(v-c.value) > 0.00051+1e-6*max(math.Abs(v), math.Abs(c.value)) {
			return c.column, true
		}
	}
	return 0, false
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// chronological orders the consoles of a run: by name where the names differ
// only in their numbers (dates, rotations), else by the first step that was
// logged, as a resumed run begins behind the one it goes on from.
func chronological(pieces []piece) {
	byName := numbered(pieces)
	slices.SortStableFunc(pieces, func(a, b piece) int {
		if a.file == b.file {
			return cmp.Compare(a.part.rows[0].line, b.part.rows[0].line)
		}
		names := natural(a.file.path, b.file.path)
		if byName {
			return names
		}
		return cmp.Or(cmp.Compare(a.part.rows[0].step, b.part.rows[0].step), names)
	})
}

// numbered says whether the files' names are equal but for digits.
func numbered(pieces []piece) bool {
	shape := func(p piece) string {
		return strings.Map(func(c rune) rune {
			if c >= '0' && c <= '9' {
				return -1
			}
			return c
		}, strings.TrimSuffix(p.file.path, ".gz"))
	}
	for _, p := range pieces[min(1, len(pieces)):] {
		if shape(p) != shape(pieces[0]) {
			return false
		}
	}
	return true
}

// natural compares names with the numbers in them as numbers.
func natural(a, b string) int {
	for a != "" && b != "" {
		da, db := leadingDigits(a), leadingDigits(b)
		if da == 0 || db == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		na, nb := strings.TrimLeft(a[:da], "0"), strings.TrimLeft(b[:db], "0")
		if c := cmp.Or(cmp.Compare(len(na), len(nb)), strings.Compare(na, nb)); c != 0 {
			return c
		}
		a, b = a[da:], b[db:]
	}
	return cmp.Compare(len(a), len(b))
}

func leadingDigits(text string) int {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}
