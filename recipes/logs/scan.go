package logs

import (
	"bytes"
	"errors"
	"strings"
)

// maxCells bounds what one file may put into memory: a thousand metrics of
// twenty thousand steps.
const maxCells = 20_000_000

var errTooMany = errors.New("more than 20 million values")

// scanner makes rows of the lines of one file.
type scanner struct {
	file    string
	objects bool // lines are JSON objects, else a console log
	columns *columns

	parts    []*part
	problems problems
	cells    int
	lastKey  string // the last key of the last whole metric line

	spec    specCounts
	pending *dictionary
	held    []field // a printed validation that waits for its step
	heldAt  int64
}

// part is a stretch of a file with one origin: one run, with its attempts.
type part struct {
	origin  Origin
	known   bool // the origin was printed
	rows    []row
	attempt int
	windows int   // of speculative decoding that belong to no step yet
	window  int64 // the line of the first of them
}

func newScanner(file string, objects bool, columns *columns) *scanner {
	return &scanner{file: file, objects: objects, columns: columns, parts: []*part{{}}}
}

func (s *scanner) part() *part { return s.parts[len(s.parts)-1] }

// line takes one line of the file; whole is false where the file ends in it.
func (s *scanner) line(text []byte, number int64, whole bool) {
	if s.objects {
		s.object(text, number, whole)
		return
	}
	if !s.interesting(text) {
		return
	}
	line := string(withoutEscapes(text))
	if s.pending != nil && s.continues(line) {
		return
	}
	switch {
	case strings.Contains(line, validationMark) && s.begins(line, number):
	case strings.Contains(line, specMark):
		if counts, ok := parseSpecLine(line); ok {
			s.spec.add(counts)
			s.addWindow(number)
		}
	default:
		for _, step := range parseSteps(line) {
			s.step(step, number, whole)
		}
		if origin, ok := parseOrigin(line); ok {
			s.setOrigin(origin)
		}
	}
}

func (s *scanner) addWindow(number int64) {
	p := s.part()
	if p.windows++; p.windows == 1 {
		p.window = number
	}
}

// interesting keeps the bulk of a log away from the parsers.
func (s *scanner) interesting(text []byte) bool {
	return s.pending != nil || bytes.Contains(text, []byte("step:")) || bytes.Contains(text, []byte(specMark)) ||
		bytes.Contains(text, []byte("/global_step_")) || bytes.Contains(text, []byte(validationMark))
}

// setOrigin begins another run where another checkpoint is named than before.
func (s *scanner) setOrigin(o Origin) {
	p := s.part()
	if !p.known && len(p.rows) == 0 {
		p.origin, p.known = o, true
	}
	if p.origin != o || !p.known {
		s.parts = append(s.parts, &part{origin: o, known: true})
	}
	s.spec = specCounts{}
}

// begins starts a printed validation.
func (s *scanner) begins(line string, number int64) bool {
	if s.pending = beginDictionary(line, number); s.pending == nil {
		return false
	}
	s.closeDictionary()
	return true
}

// continues gives a line to the dictionary that is being collected.
func (s *scanner) continues(line string) bool {
	used := s.pending.more(line)
	if used {
		s.closeDictionary()
	}
	if s.pending != nil && (s.pending.overlong() || !used && strings.Contains(line, "step:") && len(parseSteps(line)) > 0) {
		s.problems.add(openDictionary, s.file, s.pending.first, "the validation metrics that begin here do not end")
		s.pending = nil
	}
	return used
}

func (s *scanner) closeDictionary() {
	if fields, whole := s.pending.fields(); whole {
		s.held, s.heldAt, s.pending = fields, s.pending.first, nil
	}
}

// object takes one line of a metrics file.
func (s *scanner) object(text []byte, number int64, whole bool) {
	step, err := parseObject(text)
	switch {
	case err != nil && whole:
		s.problems.add(badObject, s.file, number, "%v", err)
	case err != nil:
		s.problems.add(endCut, s.file, number, "the file ends within this line, which is left out")
	default:
		s.step(step, number, true)
	}
}

// step makes a row of a metric line.
func (s *scanner) step(line stepLine, number int64, whole bool) {
	if key := repeatedKey(line.fields); key != "" {
		s.problems.add(doubledKey, s.file, number, "step %d: %s stands twice: two lines ran into one, which is left out", line.step, key)
		return
	}
	if !whole {
		line.fields = s.cutEnd(line, number)
	} else if line.torn {
		s.problems.add(tornLine, s.file, number, "step %d: the line is torn at %s; the metrics before it are kept", line.step, quoted(line.tail))
	} else if n := len(line.fields); n > 0 {
		s.lastKey = line.fields[n-1].key
	}
	r := row{step: line.step, line: number}
	for _, f := range line.fields {
		if f.kind == notNumber {
			s.problems.add(badValue, s.file, number, "step %d: %s: %s is not a number; the cell stays empty", line.step, f.key, quoted(f.text))
		}
		r.training = r.training || !isValidation(f.key)
	}
	s.addSpec(&line, r.training)
	for _, f := range line.fields {
		column := s.columns.of(f.key) // also of a bad value: its column exists
		if f.kind == isNumber || f.kind == isMissing && s.objects {
			r.cells = append(r.cells, cell{column, f.value})
		}
	}
	s.release(&r)
	s.add(r)
}

// cutEnd is what to keep of a line in which the file ends. Its last value may
// lack digits: it is kept where more of the line follows it, or where earlier lines
// ended with the same metric and it reads as a whole number.
func (s *scanner) cutEnd(line stepLine, number int64) []field {
	n := len(line.fields)
	if n == 0 {
		return nil
	}
	last := line.fields[n-1]
	looksWhole := last.kind != notNumber && !strings.HasSuffix(last.text, ".") && (s.lastKey == "" || s.lastKey == last.key)
	if looksWhole && !line.torn {
		return line.fields
	}
	s.problems.add(endCut, s.file, number, "step %d: the file ends within this line; its last value is left out", line.step)
	if line.torn {
		return line.fields
	}
	return line.fields[:n-1]
}

func repeatedKey(fields []field) string {
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		if seen[f.key] {
			return f.key
		}
		seen[f.key] = true
	}
	return ""
}

// addSpec gives the counts of the windows since the last metric line to a
// training step that has none of its own; those before a validation are its.
func (s *scanner) addSpec(line *stepLine, training bool) {
	own := false
	for _, f := range line.fields {
		own = own || strings.HasPrefix(f.key, "spec_decode/")
	}
	if training && !own {
		line.fields = append(line.fields, s.spec.fields()...)
	}
	s.spec = specCounts{}
	s.part().windows = 0
}

// release finds the step of a printed validation: that of the next metric line
// when this shows the same metrics, else the step before it.
func (s *scanner) release(next *row) {
	if s.held == nil {
		return
	}
	held := s.heldRow(max(0, next.step-1))
	if shown, _ := next.overlaps(&held); shown || !next.training {
		next.take(&held, false)
		return
	}
	s.fill(held)
}

// heldRow is the printed validation as a row.
func (s *scanner) heldRow(step int64) row {
	r := row{step: step, line: s.heldAt}
	seen := map[int32]bool{}
	for _, f := range s.held {
		if column := s.columns.of(f.key); !seen[column] {
			seen[column] = true
			r.cells = append(r.cells, cell{column, f.value})
		}
	}
	s.held = nil
	return r
}

// fill puts values where the newest row of their step has none.
func (s *scanner) fill(held row) {
	p := s.part()
	for i := len(p.rows) - 1; i >= 0; i-- {
		if p.rows[i].step == held.step {
			p.rows[i].take(&held, false)
			return
		}
	}
	s.add(held)
}

// add appends a row: to the attempt that is going on; to its last row where it
// is the same step and nothing contradicts; as the first of another attempt where
// the steps go back or the same step comes with other values.
func (s *scanner) add(r row) {
	if s.cells += len(r.cells); s.cells > maxCells || len(r.cells) == 0 && !r.training {
		return
	}
	p := s.part()
	if n := len(p.rows); n > 0 {
		last := &p.rows[n-1]
		if _, contradicts := last.overlaps(&r); r.step == last.step && !contradicts {
			last.take(&r, true)
			last.training = last.training || r.training
			return
		}
		if r.step <= last.step {
			p.attempt++
		}
	}
	r.attempt = p.attempt
	p.rows = append(p.rows, r)
}

// finish takes what is held at the file's end: a validation after the last step,
// or one before any.
func (s *scanner) finish() {
	if s.pending != nil {
		s.problems.add(openDictionary, s.file, s.pending.first, "the validation metrics that begin here do not end")
		s.pending = nil
	}
	if s.held == nil {
		return
	}
	var last int64
	if rows := s.part().rows; len(rows) > 0 {
		last = rows[len(rows)-1].step
	}
	s.fill(s.heldRow(last))
}

// err is the limit that was passed.
func (s *scanner) err() error {
	if s.cells > maxCells {
		return errTooMany
	}
	return nil
}
