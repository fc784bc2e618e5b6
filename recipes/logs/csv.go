package logs

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Table says how the rows are written.
type Table struct {
	// Runs puts a first column "run"; without it there must be one run.
	Runs bool
	// All keeps the rows that a later attempt trained again, and puts a column
	// "attempt".
	All bool
}

// WriteCSV writes the runs one below the other, a row a step: "step", then every
// metric under its own name, in the order of first appearance. What was not logged
// is empty; nan, inf and -inf are written so.
func (l *Logs) WriteCSV(w io.Writer, t Table) error {
	out := csv.NewWriter(w)
	var header []string
	if t.Runs {
		header = append(header, "run")
	}
	header = append(header, "step")
	if t.All {
		header = append(header, "attempt")
	}
	lead := len(header)
	record := make([]string, lead+len(l.Columns))
	copy(record, header)
	copy(record[lead:], l.Columns)
	if err := out.Write(record); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	for _, run := range l.Runs {
		rows := run.Rows
		if t.All {
			rows = run.all()
		}
		for _, r := range rows {
			t.fill(record, lead, run, r)
			if err := out.Write(record); err != nil {
				return fmt.Errorf("write the table: %w", err)
			}
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

func (t Table) fill(record []string, lead int, run *Run, r Row) {
	clear(record)
	at := 0
	if t.Runs {
		record[at] = run.Name
		at++
	}
	record[at] = strconv.FormatInt(r.Step, 10)
	if t.All {
		record[at+1] = strconv.Itoa(r.Attempt)
	}
	for _, c := range r.row.cells {
		record[lead+int(c.column)] = formatValue(c.value)
	}
}

// all are the rows of all attempts, by step, then attempt.
func (r *Run) all() []Row {
	all := make([]Row, 0, len(r.Rows)+len(r.Superseded))
	old := r.Superseded
	for _, row := range r.Rows {
		for len(old) > 0 && old[0].Step <= row.Step {
			all = append(all, old[0])
			old = old[1:]
		}
		all = append(all, row)
	}
	return all
}

// formatValue writes the shortest digits that read back as v, whole numbers
// without a point, small and huge ones with an exponent.
func formatValue(v float64) string {
	switch {
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
	return strconv.FormatFloat(v, 'f', -1, 64)
}
