// Package rl builds the data of code reinforcement learning from verifiable
// coding problems, as the ScaleBox recipe's build_dataset.py does: the same rows
// in the same order with the same text.
//
// Rows are read and judged in parallel. Those that are kept go to a spill file,
// whose index alone stays in memory; the split's order is then read back from
// it. Memory is therefore bounded by batches and row groups, not by the source.
package rl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"github.com/coderl/cr/datasets/source"
	"github.com/coderl/cr/datasets/split"
)

// Options of a build. The zero value is not usable; see Defaults.
type Options struct {
	MinTests    int     // fewest test cases of a problem
	ValFraction float64 // share of validation rows, above 0 and below 1
	Seed        uint64
	Language    string // of the gold solution's fence and of the tests

	// Beyond the recipe:
	ExtraInfo bool     // add extra_info {index, split}; verl takes every index as 0 without it
	Dedup     bool     // drop a problem whose normalised statement came before
	Verifier  Verifier // nil: gold solutions are taken on trust

	Dropped  string         // file for the rows that were dropped; "" for none
	Progress func(Progress) // called now and then; may be nil
	Log      *slog.Logger   // examples of dropped rows; nil for none
	Workers  int            // rows are judged by so many at a time; 0: one a processor
}

// Defaults are the recipe's.
func Defaults() Options {
	return Options{MinTests: 5, ValFraction: 0.01, Seed: 42, Language: "python"}
}

// Progress is how far a build is.
type Progress struct {
	Stage string // "read", "verify", "write"
	Done  int    // chunks of the source, programs, rows
	Total int
	Rows  int // rows read so far
}

// Summary is what a build did.
type Summary struct {
	Rows       int            `json:"rows"`
	Kept       int            `json:"kept"`
	Train      int            `json:"train"`
	Validation int            `json:"validation"`
	Dropped    map[Reason]int `json:"dropped"`
	// Beyond are the options that make the data differ from the recipe's.
	Beyond []string `json:"beyond_recipe,omitempty"`
}

// Validate says what is wrong with options.
func (o Options) Validate() error {
	switch {
	case o.MinTests < 1:
		return fmt.Errorf("at least %d tests: want 1 or more", o.MinTests)
	case !(o.ValFraction > 0 && o.ValFraction < 1):
		return fmt.Errorf("a validation share of %v: want more than 0 and less than 1", o.ValFraction)
	case o.Language == "":
		return errors.New("no language")
	}
	return nil
}

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (o Options) report(p Progress) {
	if o.Progress != nil {
		o.Progress(p)
	}
}

// Build reads the files and writes train.parquet, validation.parquet and
// validation.jsonl into dir: all of them, or none.
func Build(ctx context.Context, files []string, dir string, o Options) (_ Summary, err error) {
	if err := o.Validate(); err != nil {
		return Summary{}, err
	}
	if err := source.CheckTargets(files, targets(dir, o)...); err != nil {
		return Summary{}, err
	}
	set, err := source.Open(files, columns)
	if err != nil {
		return Summary{}, err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	b := &build{options: o, set: set}
	if b.kept, err = newSpill(dir); err != nil {
		return Summary{}, err
	}
	defer func() { err = errors.Join(err, b.kept.close()) }()
	if o.Dropped != "" {
		if _, err := os.Stat(filepath.Dir(o.Dropped)); err != nil {
			return Summary{}, &source.Error{File: o.Dropped, Err: err}
		}
		if b.gone, err = newSpill(dir); err != nil {
			return Summary{}, err
		}
		defer func() { err = errors.Join(err, b.gone.close()) }()
	}
	return b.run(ctx, dir)
}

// targets are the files that a build writes.
func targets(dir string, o Options) []string {
	files := []string{filepath.Join(dir, TrainFile), filepath.Join(dir, ValidationFile), filepath.Join(dir, LinesFile)}
	if o.Dropped != "" {
		files = append(files, o.Dropped)
	}
	return files
}

// build is one build at work.
type build struct {
	options Options
	set     *source.Set
	kept    *spill // records
	gone    *spill // dropped rows; nil: not wanted
}

func (b *build) run(ctx context.Context, dir string) (Summary, error) {
	found, err := b.read(ctx)
	if err != nil {
		return Summary{}, err
	}
	if b.options.Dedup {
		if err := found.dropDuplicates(b); err != nil {
			return Summary{}, err
		}
	}
	if b.options.Verifier != nil {
		if err := b.verify(ctx, found); err != nil {
			return Summary{}, err
		}
	}
	train, validation, err := split.TrainTest(b.options.Seed, len(found.kept), b.options.ValFraction)
	if err != nil {
		return Summary{}, err
	}
	b.logExamples(found)
	if err := b.write(ctx, dir, found, train, validation); err != nil {
		return Summary{}, err
	}
	return Summary{
		Rows: found.rows, Kept: len(found.kept), Train: len(train), Validation: len(validation),
		Dropped: found.counts, Beyond: b.options.beyond(),
	}, nil
}

func (o Options) beyond() []string {
	var names []string
	if o.Verifier != nil {
		names = append(names, "verify")
	}
	if o.Dedup {
		names = append(names, "dedup")
	}
	if o.ExtraInfo {
		names = append(names, "extra-info")
	}
	return names
}
