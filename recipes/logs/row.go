package logs

import "math"

// cell is a value of a row.
type cell struct {
	column int32
	value  float64
}

// row is what one attempt at one step logged.
type row struct {
	step     int64
	attempt  int
	training bool // more than a validation
	line     int64
	cells    []cell
}

func (r *row) get(column int32) (float64, bool) {
	for _, c := range r.cells {
		if c.column == column {
			return c.value, true
		}
	}
	return 0, false
}

// index finds the cells of a row by column.
func (r *row) index() map[int32]int {
	at := make(map[int32]int, len(r.cells))
	for i, c := range r.cells {
		at[c.column] = i
	}
	return at
}

// take adds the values of another row: where this one has none, or over those it
// has.
func (r *row) take(other *row, over bool) {
	at := r.index()
	for _, c := range other.cells {
		if i, has := at[c.column]; !has {
			r.cells = append(r.cells, c)
		} else if over {
			r.cells[i].value = c.value
		}
	}
}

// overlaps says whether both rows have a value for some metric, and contradicts
// whether they differ in one.
func (r *row) overlaps(other *row) (overlaps, contradicts bool) {
	at := r.index()
	for _, c := range other.cells {
		if i, has := at[c.column]; has {
			overlaps = true
			contradicts = contradicts || !same(r.cells[i].value, c.value)
		}
	}
	return overlaps, contradicts
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
