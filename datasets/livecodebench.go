package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coderl/cr/datasets/hub"
)

// ErrNotCached means that LiveCodeBench is not in the hub's cache.
var ErrNotCached = hub.ErrNotCached

// hubRepo is where LiveCodeBench's authors publish it.
var hubRepo = hub.Repo{Kind: hub.Datasets, Name: "livecodebench/code_generation_lite", Revision: "main"}

// Source says where LiveCodeBench's problems, or one's own, lie.
type Source struct {
	// Path is a file of problems, or a folder with test.jsonl, test2.jsonl, …
	Path string
	// HubCache is the hub's cache, the folder that holds datasets--ORG--NAME,
	// looked into when Path is empty.
	HubCache string
}

// Options choose among a source's problems.
type Options struct {
	// Release is v1 to v6, vA_vB or latest, also spelled release_v5. Empty takes
	// Path whole, without dates.
	Release string
	// Start and End are days like 2024-08-01, both included; empty is open.
	Start, End string
	// DateCompat is DayCompat (also when empty) or LCBCompat.
	DateCompat string
	// Limit keeps the first problems by ID, if above zero; sizes of releases are
	// not checked then.
	Limit int
}

// LoadLiveCodeBench reads problems in LiveCodeBench's schema, ordered by ID. A
// release must have exactly its number of problems. Errors are one line: file,
// line, problem, field. From a cache without the files it is [ErrNotCached].
func LoadLiveCodeBench(ctx context.Context, src Source, opts Options) (Set, error) {
	l, err := newLoader(opts)
	if err != nil {
		return Set{}, err
	}
	files, err := l.files(src)
	if err != nil {
		return Set{}, err
	}
	for _, file := range files {
		if err := l.read(ctx, file); err != nil {
			return Set{}, err
		}
	}
	if err := l.checkCount(files); err != nil {
		return Set{}, err
	}
	return l.set(ctx, files)
}

// loader gathers records over the files of one source.
type loader struct {
	release release // zero: a file of one's own
	window  window
	limit   int

	hash   hash.Hash
	rows   []row
	seen   map[string]string // question_id to where it stood
	counts []int             // rows of each file, those outside the window included
	differ int               // rows that the other date rule treats differently
}

// row is a record with its place, for errors found later.
type row struct {
	*record
	at string
}

func newLoader(opts Options) (*loader, error) {
	l := &loader{limit: opts.Limit, hash: sha256.New(), seen: map[string]string{}}
	if opts.Release == "" {
		return l, nil
	}
	var err error
	if l.release, err = parseRelease(opts.Release); err != nil {
		return nil, err
	}
	l.window, err = parseWindow(opts.Start, opts.End, opts.DateCompat)
	return l, err
}

func (l *loader) own() bool { return l.release.last == 0 }

// files lists what to read, in order.
func (l *loader) files(src Source) ([]string, error) {
	folder := src.Path
	if folder == "" {
		if l.own() {
			return nil, errors.New("a release must be named for problems from the cache")
		}
		var err error
		if folder, _, err = hub.Snapshot(src.HubCache, hubRepo); err != nil {
			return nil, fmt.Errorf("%w (cache: %s)", err, src.HubCache)
		}
	}
	info, err := os.Stat(folder)
	if err != nil {
		return nil, fmt.Errorf("problems: %w", err)
	}
	if !info.IsDir() {
		return []string{folder}, nil
	}
	names := l.release.files
	if l.own() {
		names = release{1, len(increments)}.files
	}
	var files []string
	for _, name := range names() {
		path := filepath.Join(folder, name)
		_, err := os.Stat(path)
		switch {
		case err == nil:
			files = append(files, path)
		case !errors.Is(err, os.ErrNotExist):
			return nil, fmt.Errorf("problems: %w", err)
		case !l.own() && src.Path == "":
			return nil, fmt.Errorf("%w: release %s needs %s, which %s lacks", ErrNotCached, l.release, name, folder)
		case !l.own():
			return nil, fmt.Errorf("release %s needs %s, which %s lacks", l.release, name, folder)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no test.jsonl, test2.jsonl, …: name the file itself", folder)
	}
	return files, nil
}

func (l *loader) read(ctx context.Context, path string) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("problems: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := l.readFrom(ctx, file, path); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (l *loader) readFrom(ctx context.Context, r io.Reader, path string) error {
	rows := 0
	err := eachLine(ctx, io.TeeReader(r, l.hash), func(number int, line []byte) error {
		rows++
		return l.add(line, fmt.Sprintf("%s: line %d", path, number))
	})
	l.counts = append(l.counts, rows)
	return err
}

// add keeps a row that lies in the window; its tests are not decoded yet, which
// saves most of the work and memory on a whole release.
func (l *loader) add(line []byte, at string) error {
	if isPointer(line) {
		return errors.New("a Git LFS pointer, not the file: fetch the data itself")
	}
	r, err := parseRecord(line)
	if err != nil {
		return err
	}
	if first, twice := l.seen[r.ID]; twice {
		return fmt.Errorf("%s: question_id stands already at %s", r.ID, first)
	}
	l.seen[r.ID] = at
	if !l.window.open() {
		if r.date.IsZero() {
			return fmt.Errorf("%s: contest_date is missing, and a date window is asked for", r.ID)
		}
		kept, otherwise := l.window.holds(r.date)
		if kept != otherwise {
			l.differ++
		}
		if !kept {
			return nil
		}
	}
	l.rows = append(l.rows, row{r, at})
	return nil
}

func isPointer(line []byte) bool {
	return strings.HasPrefix(string(line[:min(len(line), 40)]), "version https://git-lfs")
}

// checkCount refuses a release of another size, file by file where it has files:
// counts have changed under users before.
func (l *loader) checkCount(files []string) error {
	if l.own() || l.limit > 0 {
		return nil
	}
	if len(files) == 1 {
		return mismatch(files[0], l.counts[0], l.release)
	}
	for i, file := range files {
		number := l.release.first + i
		if err := mismatch(file, l.counts[i], release{number, number}); err != nil {
			return err
		}
	}
	return nil
}

func mismatch(file string, rows int, r release) error {
	if rows == r.count() {
		return nil
	}
	return fmt.Errorf("%s: %d problems, but release %s has %d there: another version of the data, or another release (a limit skips this check)", file, rows, r, r.count())
}

// set orders the rows, applies the limit and decodes their tests.
func (l *loader) set(ctx context.Context, files []string) (Set, error) {
	slices.SortFunc(l.rows, func(a, b row) int { return strings.Compare(a.ID, b.ID) })
	inWindow := len(l.rows)
	if l.limit > 0 {
		l.rows = l.rows[:min(l.limit, len(l.rows))]
	}
	s := Set{Name: filepath.Base(files[0]), SHA256: hex.EncodeToString(l.hash.Sum(nil))}
	for i := range l.rows {
		if err := ctx.Err(); err != nil {
			return Set{}, err
		}
		p, err := l.rows[i].problem()
		if err != nil {
			return Set{}, fmt.Errorf("%s: %w", l.rows[i].at, err)
		}
		if l.own() {
			err = checkFunctional(p)
		}
		if err != nil {
			return Set{}, fmt.Errorf("%s: %s: %w", l.rows[i].at, p.ID, err)
		}
		// The compressed tests are not needed again.
		l.rows[i].record = nil
		s.Problems = append(s.Problems, p)
	}
	if !l.own() {
		s.Name, s.Release, s.Window = l.release.String(), l.release.String(), l.window.String()
		s.Notes = l.notes(inWindow)
	}
	return applyOverlay(s)
}

// notes say which problems a release's name stands for: "v6" means 175 problems
// to some and 454 to others.
func (l *loader) notes(inWindow int) []string {
	total := 0
	for _, n := range l.counts {
		total += n
	}
	notes := []string{fmt.Sprintf("release %s: %d problems (files %s)", l.release, total, strings.Join(l.release.files(), ", "))}
	if l.window.open() {
		return notes
	}
	notes = append(notes, fmt.Sprintf("window %s: %d of them", l.window, inWindow))
	if l.differ > 0 {
		other := LCBCompat
		if l.window.compat == LCBCompat {
			other = DayCompat
		}
		notes = append(notes, fmt.Sprintf("%d on the window's last day fall differently by the date rule %s", l.differ, other))
	}
	return notes
}

// checkFunctional finds calls that are not JSON while the user still has the
// file at hand. In a release they are left to the judge: one bad row upstream
// must not stop a run.
func checkFunctional(p Problem) error {
	if !p.Functional() {
		return nil
	}
	for i, test := range p.Tests {
		if err := test.Validate(p.Method); err != nil {
			field, number := "public_test_cases", i+1
			if i >= p.Public {
				field, number = "private_test_cases", i+1-p.Public
			}
			return fmt.Errorf("%s: test %d: %w", field, number, err)
		}
	}
	return nil
}
