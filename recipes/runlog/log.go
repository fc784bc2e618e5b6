package runlog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// The files of a run folder that a log writes.
const (
	MetricsFile    = "metrics.jsonl" // what two equal runs agree in
	TimingFile     = "timing.jsonl"  // what depends on the clock
	TensorBoardDir = "tensorboard"   // event files, one a start
)

// Log is an open log of a run.
type Log struct {
	console io.Writer
	metrics *lineFile
	timing  *lineFile
	events  *eventFile
	// missing is how many steps the metrics should have and do not.
	missing, last int
}

// Open begins the log of a run in dir, or goes on after step last: what was
// logged for later steps, by a process that died before its next checkpoint, is
// cut off. Console lines go to console.
func Open(dir string, last int, console io.Writer) (*Log, error) {
	l := &Log{console: console, last: last}
	var there int
	var err error
	if l.metrics, there, err = openLines(filepath.Join(dir, MetricsFile), last); err != nil {
		return nil, err
	}
	l.missing = max(0, last-there)
	if l.timing, _, err = openLines(filepath.Join(dir, TimingFile), last); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if l.events, err = createEvents(filepath.Join(dir, TensorBoardDir), last, time.Now()); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Gap says which steps, done before the log was opened, the metrics do not have:
// lines that somebody took away, for a process leaves them before its checkpoint.
// "" for none.
func (l *Log) Gap() string {
	if l.missing == 0 {
		return ""
	}
	return fmt.Sprintf("%s lacks %d of the %d steps before: they stay out of it and of the figures; what is trained does not depend on it",
		l.metrics.file.Name(), l.missing, l.last)
}

// Step logs one step everywhere. Metrics stand in the order given.
func (l *Log) Step(step int, metrics []Metric) error {
	if _, err := fmt.Fprintln(l.console, Line(step, metrics)); err != nil {
		return fmt.Errorf("print step %d: %w", step, err)
	}
	var steady, clock []Metric
	for _, m := range metrics {
		if m.clock {
			clock = append(clock, m)
		} else {
			steady = append(steady, m)
		}
	}
	return errors.Join(l.metrics.add(step, steady), l.timing.add(step, clock), l.events.add(step, metrics, time.Now()))
}

// Sync has all that was logged survive a power cut; to be called before a
// checkpoint is put in place, which relies on it.
func (l *Log) Sync() error {
	return errors.Join(l.metrics.file.Sync(), l.timing.file.Sync())
}

// Close closes the files.
func (l *Log) Close() error {
	var errs []error
	for _, f := range []*lineFile{l.metrics, l.timing} {
		if f != nil {
			errs = append(errs, f.file.Close())
		}
	}
	if l.events != nil {
		errs = append(errs, l.events.file.Close())
	}
	return errors.Join(errs...)
}

// lineFile is a file of JSON objects, a line a step.
type lineFile struct{ file *os.File }

// add writes a step's line in one write, so that a kill leaves at most one torn
// line, which the next opening cuts off.
func (f *lineFile) add(step int, metrics []Metric) error {
	if len(metrics) == 0 {
		return nil
	}
	if _, err := f.file.Write(jsonLine(step, metrics)); err != nil {
		return fmt.Errorf("log step %d: %w", step, err)
	}
	return nil
}
