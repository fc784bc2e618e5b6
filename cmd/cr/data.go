package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/datasets/hub"
)

// The release and window that eval takes from the cache when no flag says
// otherwise: what the ScaleBox recipe reports on.
const (
	defaultRelease = "v5"
	defaultStart   = "2024-08-01"
)

// dataFlags choose a benchmark's problems.
type dataFlags struct {
	Data       string  `placeholder:"FILE|DIR|NAME" help:"Problems in LiveCodeBench's schema: a file, a folder of test*.jsonl, or one shipped inside cr: bundled, tiny-heldout, tiny-practice (default: the release in the cache)."`
	Release    string  `placeholder:"vN" help:"Release v1..v6 or vA_vB (default: v5 from the cache; a file of one's own is taken whole)."`
	StartDate  *string `placeholder:"DAY" help:"First contest day of a release (default: 2024-08-01); empty for all."`
	EndDate    string  `placeholder:"DAY" help:"Last contest day of a release."`
	DateCompat string  `enum:"day,lcb" default:"day" help:"The last day ends at its end (day) or, as in LiveCodeBench, at its midnight (lcb)."`
	Limit      int     `help:"Only the first problems by id."`
}

// load reads the problems.
func (l *livecodebenchCmd) load(ctx context.Context, c *console) (datasets.Set, error) {
	if slices.Contains(datasets.ShippedNames(), l.Data) {
		if l.Release != "" || l.StartDate != nil || l.EndDate != "" {
			return datasets.Set{}, usagef("--data %s is taken whole: leave out --release, --start-date and --end-date", l.Data)
		}
		return datasets.Shipped(l.Data)
	}
	options := datasets.Options{Release: l.Release, End: l.EndDate, DateCompat: l.DateCompat, Limit: l.Limit}
	source := datasets.Source{Path: l.Data}
	if _, err := os.Stat(l.Data); l.Data != "" && errors.Is(err, fs.ErrNotExist) {
		return datasets.Set{}, usagef("--data %s: no such file or folder, and none of that name is shipped inside cr (%s)", l.Data, strings.Join(datasets.ShippedNames(), ", "))
	}
	if l.Data == "" {
		options.Release = cmp.Or(l.Release, defaultRelease)
		folder, err := l.release(ctx, c, options.Release)
		if err != nil {
			return datasets.Set{}, err
		}
		source.Path = folder
	}
	switch {
	case options.Release == "" && (l.StartDate != nil || l.EndDate != ""):
		return datasets.Set{}, usagef("--start-date and --end-date choose from a release: name it with --release")
	case l.StartDate != nil:
		options.Start = *l.StartDate
	case options.Release != "":
		options.Start = defaultStart
	}
	set, err := datasets.LoadLiveCodeBench(ctx, source, options)
	if err != nil && ctx.Err() == nil {
		return set, badInput(err)
	}
	return set, err
}

// release returns the folder of the dataset in the cache, after fetching the
// files that a release takes and the cache lacks.
func (l *livecodebenchCmd) release(ctx context.Context, c *console, name string) (string, error) {
	files, err := datasets.ReleaseFiles(name)
	if err != nil {
		return "", badInput(err)
	}
	want, err := hub.Select(files, nil)
	if err != nil {
		return "", err
	}
	repo := datasets.LiveCodeBenchRepo()
	folder, err := l.Cache.fetched(ctx, c, repo, want)
	if errors.Is(err, hub.ErrNotCached) {
		return "", fmt.Errorf("%s: %w: name the problems with --data FILE or DIR, fetch them where there is a network (cr download datasets/%s), or try --data bundled", repo.Name, err, repo.Name)
	}
	return folder, err
}
