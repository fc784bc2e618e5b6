package logs

import (
	"fmt"
	"slices"
	"sort"
)

// Logs is what the files of a collection hold.
type Logs struct {
	Runs     []*Run
	Columns  []string // the metrics of all runs, in the order of first appearance
	Problems []Problem
	Files    int      // that were read
	Silent   []Silent // sources without a metric line
}

// Silent is a source without a metric line.
type Silent struct {
	Path    string
	Files   int      // that it has
	Problem *Problem // what was wrong with the first that has a defect, nil without
}

// Run is one training run, a row a step.
type Run struct {
	Name       string
	Origin     Origin
	Files      []string // with metric lines, in the order of the attempts
	Attempts   int      // starts of the run that left metrics
	Rows       []Row    // ascending by step
	Superseded []Row    // what a later attempt trained again, ascending by step
	// LooseWindows counts the windows of speculative decoding that vLLM printed
	// after the last step, or in files without steps; they belong to no row.
	LooseWindows int

	columns *columns
}

// Row is a step of a run.
type Row struct {
	Step     int64
	Attempt  int  // from 1
	Training bool // more than a validation
	// Gap: steps are missing between the row before and this one, because the run
	// was started again behind where it had been logged.
	Gap bool

	row *row
}

// Value is a metric of a row; ok is false where it was not logged.
func (r *Run) Value(row Row, metric string) (v float64, ok bool) {
	column, known := r.columns.number[metric]
	if !known {
		return 0, false
	}
	return row.row.get(column)
}

// Has says whether any row has the metric.
func (r *Run) Has(metric string) bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool {
		_, ok := r.Value(row, metric)
		return ok
	})
}

// Logs joins what was read so far to runs.
func (c *Collection) Logs() *Logs {
	l := &Logs{Columns: c.columns.names, Files: len(c.order)}
	var names []string
	byRun := map[string][]*openFile{}
	for _, path := range c.order {
		f := c.files[path]
		if _, known := byRun[f.run]; !known {
			names = append(names, f.run)
		}
		byRun[f.run] = append(byRun[f.run], f)
		l.Problems = append(l.Problems, f.scanner.problems.list...)
	}
	for _, name := range names {
		runs, problems := c.split(name, byRun[name])
		l.Runs = append(l.Runs, runs...)
		l.Problems = append(l.Problems, problems...)
	}
	l.Silent = c.silent()
	return l
}

// silent are the sources none of whose files has a row.
func (c *Collection) silent() []Silent {
	var silent []Silent
	for _, s := range c.sources {
		found, err := s.find()
		if err != nil {
			found = nil // it went away
		}
		one := Silent{Path: s.Path, Files: len(found)}
		if !slices.ContainsFunc(found, func(f logFile) bool { return c.speaks(f, &one) }) {
			silent = append(silent, one)
		}
	}
	return silent
}

// speaks says whether a file has a row; where it has none its first problem is
// noted.
func (c *Collection) speaks(f logFile, note *Silent) bool {
	known := c.files[f.path]
	if known == nil {
		return true // read by another path
	}
	if problems := known.scanner.problems.list; len(problems) > 0 && note.Problem == nil {
		note.Problem = &problems[0]
	}
	return known.hasRows()
}

func (f *openFile) hasRows() bool {
	return slices.ContainsFunc(f.scanner.parts, func(p *part) bool { return len(p.rows) > 0 })
}

// piece is a part of a file: a stretch of one run.
type piece struct {
	file *openFile
	part *part
}

// split makes the runs of one label: one, unless the logs name several
// checkpoints that they began from.
func (c *Collection) split(name string, files []*openFile) ([]*Run, []Problem) {
	known := map[Origin]bool{}
	var origins []Origin
	for _, f := range files {
		for _, p := range f.scanner.parts {
			if len(p.rows) > 0 && p.known && !known[p.origin] {
				known[p.origin] = true
				origins = append(origins, p.origin)
			}
		}
	}
	if len(origins) > 1 {
		origins = append([]Origin{{}}, origins...)
	}
	pieces := map[Origin][]piece{}
	for _, f := range files {
		for _, p := range f.scanner.parts {
			origin := p.origin
			if len(origins) == 1 {
				origin = origins[0] // those that name none are its too
			}
			pieces[origin] = append(pieces[origin], piece{f, p})
		}
	}
	if len(origins) == 0 {
		origins = []Origin{{}}
	}
	var runs []*Run
	var problems []Problem
	for _, origin := range origins {
		run, odd := c.join(pieces[origin])
		if len(run.Rows) == 0 {
			continue
		}
		run.Name, run.Origin = name, origin
		if len(origins) > 1 {
			run.Name = name + ":" + origin.String()
		}
		runs, problems = append(runs, run), append(problems, odd...)
	}
	return runs, problems
}

// join makes one run of its pieces: the consoles one after another, then the
// metrics files over them, which show the same steps with all digits.
func (c *Collection) join(pieces []piece) (*Run, []Problem) {
	run := &Run{columns: c.columns}
	var consoles, objects []piece
	var problems []Problem
	for _, p := range pieces {
		run.LooseWindows += p.part.windows
		switch {
		case len(p.part.rows) == 0:
			problems = append(problems, p.loose()...)
		case p.file.objects:
			objects = append(objects, p)
		default:
			consoles = append(consoles, p)
		}
	}
	chronological(consoles)
	base := newTimeline()
	for _, p := range consoles {
		base.append(p.part.rows)
		run.addFile(p.file.path)
	}
	problems = append(problems, ambiguousOrder(consoles)...)
	for _, p := range objects {
		run.addFile(p.file.path)
		if len(base.steps) == 0 {
			base.append(p.part.rows)
			continue
		}
		lane := newTimeline()
		lane.append(p.part.rows)
		problems = append(problems, base.overlay(lane, p, c.columns)...)
	}
	run.Attempts = base.attempts
	run.Rows, run.Superseded = base.rows(), base.superseded()
	markGaps(run.Rows)
	return run, problems
}

// loose tells of windows of speculative decoding in a file without steps.
func (p piece) loose() []Problem {
	if p.part.windows == 0 {
		return nil
	}
	return []Problem{{File: p.file.path, Line: p.part.window, Count: p.part.windows, What: "a window of speculative decoding in a log without steps belongs to none"}}
}

func (r *Run) addFile(path string) {
	if !slices.Contains(r.Files, path) {
		r.Files = append(r.Files, path)
	}
}

// markGaps finds where a restart left out steps: more than the usual distance
// between two rows of different attempts.
func markGaps(rows []Row) {
	var strides []int64
	for i := 1; i < len(rows); i++ {
		strides = append(strides, rows[i].Step-rows[i-1].Step)
	}
	if len(strides) == 0 {
		return
	}
	sort.Slice(strides, func(a, b int) bool { return strides[a] < strides[b] })
	usual := strides[len(strides)/2]
	for i := 1; i < len(rows); i++ {
		rows[i].Gap = rows[i].Attempt != rows[i-1].Attempt && rows[i].Step-rows[i-1].Step > usual
	}
}

// ambiguousOrder tells when two consoles begin with the same step and neither
// name says which is later.
func ambiguousOrder(consoles []piece) []Problem {
	for i := 1; i < len(consoles); i++ {
		a, b := consoles[i-1], consoles[i]
		first := b.part.rows[0]
		if a.file != b.file && a.part.rows[0].step == first.step && !numbered(consoles) {
			return []Problem{{File: b.file.path, Line: first.line, Count: 1, What: fmt.Sprintf(
				"step %d comes in %s too, and neither name says which is later: this one's values stand; label them as two runs with NAME=FILE if they are", first.step, a.file.path)}}
		}
	}
	return nil
}
