package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/coderl/cr/datasets/gold"
	"github.com/coderl/cr/datasets/hub"
	"github.com/coderl/cr/datasets/rl"
	"github.com/coderl/cr/datasets/source"
	"github.com/coderl/cr/datasets/split"
)

// sourceFlags choose the rows that a data set is made of.
type sourceFlags struct {
	Cache cacheFlags `embed:""`
}

// files finds the files behind --source.
func (f sourceFlags) files(ctx context.Context, c *console, name string) ([]string, error) {
	return f.Cache.dataFiles(ctx, c, "--source", name)
}

// dataFiles finds the files behind FILE, DIR or hub:ORG/NAME[@REV], which flag
// or setting named.
func (f cacheFlags) dataFiles(ctx context.Context, c *console, named, name string) ([]string, error) {
	if repo, isHub := strings.CutPrefix(name, "hub:"); isHub {
		r, err := hub.Parse(hub.Datasets, repo)
		if err != nil {
			return nil, badInput(fmt.Errorf("%s hub:%w", named, err))
		}
		tables, err := hub.Select([]string{"*.parquet", "*.jsonl"}, nil)
		if err != nil {
			return nil, err
		}
		if name, err = f.fetched(ctx, c, r, tables); err != nil {
			if errors.Is(err, hub.ErrNotCached) {
				err = fmt.Errorf("dataset %s: %w: name files with %s FILE or DIR, or fetch it where there is a network (cr download datasets/%s)", r.Name, err, named, r.Name)
			}
			return nil, err
		}
	}
	files, err := source.Files(name)
	var missing *fs.PathError
	if errors.As(err, &missing) && missing.Path == name {
		return nil, badInput(fmt.Errorf("%s %s: %w", named, name, missing.Err))
	}
	if err != nil {
		return nil, badInput(fmt.Errorf("%s: %w", named, err))
	}
	return files, nil
}

// inputFault marks an error of a data file as the input's fault.
func inputFault(err error) error {
	if errors.As(err, new(*source.Error)) {
		return badInput(err)
	}
	return err
}

type buildDatasetCmd struct {
	Source      string  `default:"hub:PrimeIntellect/verifiable-coding-problems" placeholder:"FILE|DIR|hub:…" help:"Problems: parquet or JSONL files, or a dataset of the hub (default: ${default})."`
	Out         string  `default:"." placeholder:"DIR" help:"Folder of the three files (default: the one you are in)."`
	MinTests    int     `default:"5" help:"Fewest test cases of a problem."`
	ValFraction float64 `default:"0.01" help:"Share of validation rows."`
	Seed        uint64  `default:"42" help:"Seed of the split, as numpy takes it."`
	Language    string  `default:"python" help:"Language of the solution's fence and of the tests."`
	Dropped     string  `placeholder:"FILE" help:"Keep dropped rows with their reasons as JSONL."`

	Dedup     bool `help:"Beyond the recipe: drop problems whose normalised statement came before."`
	ExtraInfo bool `help:"Beyond the recipe: add extra_info with the row's index; verl takes every index as 0 without it."`
	Verify    bool `help:"Beyond the recipe: run each gold solution twice in the sandbox, drop problems where it does not pass."`

	sandboxFlags `embed:""`
	sourceFlags  `embed:""`
}

// Help is shown below the flags.
func (buildDatasetCmd) Help() string {
	return `Examples:
  cr build-dataset --out data
  cr build-dataset --source problems.parquet --out data --dedup --extra-info

Writes train.parquet, validation.parquet and validation.jsonl, all or none of
them: without the flags beyond the recipe, the very rows of build_dataset.py. See
docs/datasets.md. With -v, a few dropped rows of each reason are shown.`
}

// gcPercent is how much garbage may pile up beside what is in use.
const gcPercent = 50

// options are the build's, but for the verifier.
func (b *buildDatasetCmd) options(c *console) rl.Options {
	return rl.Options{
		MinTests: b.MinTests, ValFraction: b.ValFraction, Seed: b.Seed, Language: b.Language,
		Dedup: b.Dedup, ExtraInfo: b.ExtraInfo, Dropped: b.Dropped, Log: c.log,
	}
}

// Validate is called by Kong after parsing.
func (b *buildDatasetCmd) Validate() error {
	return cmp.Or(b.options(&console{}).Validate(), isFolder("--out", b.Out))
}

// Run builds the data set.
func (b *buildDatasetCmd) Run(ctx context.Context, c *console) error {
	// Rows are short-lived and many: collecting them sooner halves the memory for
	// a tenth of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	files, err := b.files(ctx, c, b.Source)
	if err != nil {
		return err
	}
	o := b.options(c)
	if b.Verify {
		executor, err := b.open(0)
		if err != nil {
			return err
		}
		defer executor.Close()
		o.Verifier = gold.New(executor, b.Language)
	}
	bar := newRowProgress(c)
	o.Progress = bar.build
	summary, err := rl.Build(ctx, files, b.Out, o)
	bar.end()
	if errors.Is(err, split.ErrNothingToTrain) {
		return badInput(err)
	}
	if err != nil {
		return inputFault(err)
	}
	if summary.Kept == 0 {
		c.note("no row was kept: the files have none")
	}
	return c.result(summary, func(w io.Writer) error {
		fmt.Fprintf(w, "%d rows, %d kept: %d in %s, %d in %s and %s\n", summary.Rows, summary.Kept,
			summary.Train, filepath.Join(b.Out, rl.TrainFile), summary.Validation, rl.ValidationFile, rl.LinesFile)
		if len(summary.Beyond) > 0 {
			fmt.Fprintf(w, "beyond the recipe: %s\n", strings.Join(summary.Beyond, ", "))
		}
		return printReasons(w, summary.Dropped)
	})
}

// printReasons prints how many rows were dropped why, the most first.
func printReasons[R ~string](w io.Writer, dropped map[R]int) error {
	reasons := slices.SortedFunc(maps.Keys(dropped), func(a, b R) int {
		if dropped[a] != dropped[b] {
			return dropped[b] - dropped[a]
		}
		return strings.Compare(string(a), string(b))
	})
	for _, reason := range reasons {
		if _, err := fmt.Fprintf(w, "%8d  %s\n", dropped[reason], reason); err != nil {
			return err
		}
	}
	return nil
}
