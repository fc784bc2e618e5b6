package rl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/coderl/cr/datasets/source"
	"github.com/coderl/cr/datasets/split"
)

// tableRow is a row of the output.
type tableRow struct {
	Prompt []struct {
		Role    *string `parquet:"role,optional" json:"role"`
		Content *string `parquet:"content,optional" json:"content"`
	} `parquet:"prompt,list" json:"prompt"`
	Solutions   []string `parquet:"solutions,list" json:"solutions"`
	RewardModel struct {
		GroundTruth string `parquet:"ground_truth" json:"ground_truth"`
		Style       string `parquet:"style" json:"style"`
	} `parquet:"reward_model" json:"reward_model"`
	DataSource *string `parquet:"data_source,optional" json:"data_source"`
}

// extraRow is a row's addition beyond the recipe.
type extraRow struct {
	ExtraInfo struct {
		Index int64  `parquet:"index"`
		Split string `parquet:"split"`
	} `parquet:"extra_info"`
}

// testdata/train.jsonl and validation.jsonl are what golden.py makes of
// source.parquet in Python.
const sourceFile = "testdata/source.parquet"

func TestBuildIsTheRecipes(t *testing.T) {
	dir := t.TempDir()
	summary, err := Build(t.Context(), []string{sourceFile}, dir, Defaults())
	if err != nil {
		t.Fatal(err)
	}
	want := jsonLines[tableRow](t, "testdata/train.jsonl")
	got := tableRows[tableRow](t, filepath.Join(dir, TrainFile))
	if len(got) != len(want) || summary.Train != len(want) {
		t.Fatalf("%d training rows (%+v), want %d", len(got), summary, len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("training row %d:\n%+v\nwant\n%+v", i, got[i], want[i])
		}
	}
	lines := readFile(t, "testdata/validation.jsonl")
	if got := readFile(t, filepath.Join(dir, LinesFile)); !bytes.Equal(got, lines) {
		t.Errorf("%s:\n%s\nwant\n%s", LinesFile, got, lines)
	}
	if got, want := tableRows[tableRow](t, filepath.Join(dir, ValidationFile)), jsonLines[tableRow](t, "testdata/validation.jsonl"); !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v, want %+v", ValidationFile, got, want)
	}
	dropped := 0
	for _, n := range summary.Dropped {
		dropped += n
	}
	if summary.Rows != summary.Kept+dropped || summary.Kept != summary.Train+summary.Validation {
		t.Errorf("the summary does not add up: %+v", summary)
	}
}

// The same rows from JSONL, in several files, by any number of workers.
func TestSourceAndWorkersMakeNoDifference(t *testing.T) {
	want := t.TempDir()
	if _, err := Build(t.Context(), []string{sourceFile}, want, Defaults()); err != nil {
		t.Fatal(err)
	}
	first, second := linesOf(t, 0, 150), linesOf(t, 150, 1<<30)
	for _, workers := range []int{1, 7} {
		dir, o := t.TempDir(), Defaults()
		o.Workers = workers
		if _, err := Build(t.Context(), []string{first, second}, dir, o); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{TrainFile, ValidationFile, LinesFile} {
			if !bytes.Equal(readFile(t, filepath.Join(dir, name)), readFile(t, filepath.Join(want, name))) {
				t.Errorf("%d workers: %s differs", workers, name)
			}
		}
	}
}

func TestDroppedRowsAndExtras(t *testing.T) {
	dir, o := t.TempDir(), Defaults()
	o.Dedup, o.ExtraInfo, o.Dropped = true, true, filepath.Join(dir, "dropped.jsonl")
	summary, err := Build(t.Context(), []string{sourceFile}, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		Row    int
		Reason Reason
		Detail string
	}
	counts, last := map[Reason]int{}, -1
	var rows []int
	for _, l := range jsonLines[line](t, o.Dropped) {
		counts[l.Reason]++
		if l.Row <= last || l.Detail == "" {
			t.Fatalf("line %+v after row %d", l, last)
		}
		last = l.Row
		rows = append(rows, l.Row)
	}
	if !reflect.DeepEqual(counts, summary.Dropped) || counts[Duplicate] == 0 {
		t.Errorf("the file has %v, the summary %v", counts, summary.Dropped)
	}
	for _, name := range []string{TrainFile, ValidationFile} {
		for _, row := range tableRows[extraRow](t, filepath.Join(dir, name)) {
			if row.ExtraInfo.Split != strings.TrimSuffix(name, ".parquet") {
				t.Fatalf("%s: extra_info %+v", name, row.ExtraInfo)
			}
			rows = append(rows, int(row.ExtraInfo.Index))
		}
	}
	slices.Sort(rows)
	for i, row := range rows {
		if i != row {
			t.Fatalf("row %d is neither kept nor dropped, or both", i)
		}
	}
	if len(rows) != summary.Rows {
		t.Errorf("%d rows kept or dropped of %d", len(rows), summary.Rows)
	}
}

func TestNothingHalfWritten(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, TrainFile)
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	broken := filepath.Join(t.TempDir(), "broken.jsonl")
	if err := os.WriteFile(broken, []byte("{\"prompt\": \"a\"}\n{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, build := range map[string]func() error{
		"cancelled": func() error {
			_, err := Build(cancelled, []string{sourceFile}, dir, Defaults())
			return ifNot(err, errors.Is(err, context.Canceled))
		},
		"a bad line": func() error {
			_, err := Build(t.Context(), []string{sourceFile, broken}, dir, Defaults())
			return ifNot(err, errors.As(err, new(*source.Error)) && strings.Contains(err.Error(), "line 2"))
		},
		"a verifier that cannot": func() error {
			o := Defaults()
			o.Verifier = verifier(func(Gold) (Verdict, error) { return Verdict{}, errors.New("no sandbox") })
			_, err := Build(t.Context(), []string{sourceFile}, dir, o)
			return ifNot(err, err != nil && err.Error() == "no sandbox")
		},
		"a file that cannot be made": func() error {
			o := Defaults()
			o.Dropped = filepath.Join(dir, "absent", "dropped.jsonl")
			_, err := Build(t.Context(), []string{sourceFile}, dir, o)
			return ifNot(err, errors.Is(err, os.ErrNotExist))
		},
	} {
		if err := build(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := string(readFile(t, old)); got != "old" {
			t.Errorf("%s: the old file is gone", name)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Errorf("%s: the folder holds %v", name, entries)
		}
	}
}

// A split needs a row on each side; no rows at all make empty files.
func TestFewRows(t *testing.T) {
	good := map[string]string{
		"prompt": "p", "source": "apps", "gold_standard_solution": "```python\nx\n```",
		"verification_info": `{"language": "python", "test_cases": [{"input": "1", "output": "1"}]}`,
	}
	text, err := json.Marshal(good)
	if err != nil {
		t.Fatal(err)
	}
	o := Defaults()
	o.MinTests = 1
	for n, want := range []error{nil, split.ErrNothingToTrain, nil} {
		dir := t.TempDir()
		file := filepath.Join(dir, "rows.jsonl")
		if err := os.WriteFile(file, bytes.Repeat(append(text, '\n'), n), 0o600); err != nil {
			t.Fatal(err)
		}
		summary, err := Build(t.Context(), []string{file}, dir, o)
		if !errors.Is(err, want) || (err == nil && summary.Kept != n) {
			t.Errorf("%d rows: %+v (%v), want %v", n, summary, err, want)
		}
		if err == nil {
			rows := tableRows[tableRow](t, filepath.Join(dir, TrainFile))
			if len(rows) != n/2 {
				t.Errorf("%d rows: %d to train on", n, len(rows))
			}
		}
	}
}

func TestVerifierDrops(t *testing.T) {
	dir, o := t.TempDir(), Defaults()
	o.Verifier = verifier(func(g Gold) (Verdict, error) {
		if g.Row%2 == 0 {
			return Verdict{Reason: GoldFails, Detail: "test 1: WA"}, nil
		}
		return Verdict{}, nil
	})
	o.ExtraInfo = true
	summary, err := Build(t.Context(), []string{sourceFile}, dir, o)
	if err != nil || summary.Dropped[GoldFails] == 0 || !slices.Equal(summary.Beyond, []string{"verify", "extra-info"}) {
		t.Fatalf("%+v (%v)", summary, err)
	}
	for _, row := range tableRows[extraRow](t, filepath.Join(dir, TrainFile)) {
		if row.ExtraInfo.Index%2 == 0 {
			t.Fatalf("row %d was kept", row.ExtraInfo.Index)
		}
	}
}

type verifier func(Gold) (Verdict, error)

func (v verifier) Verify(_ context.Context, g Gold) (Verdict, error) { return v(g) }

// ifNot is err, or a word for its absence, where what was wanted did not happen.
func ifNot(err error, wanted bool) error {
	switch {
	case wanted:
		return nil
	case err == nil:
		return errors.New("no error")
	default:
		return err
	}
}

func tableRows[T any](t *testing.T, path string) []T {
	t.Helper()
	rows, err := parquet.ReadFile[T](path)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func jsonLines[T any](t *testing.T, path string) (rows []T) {
	t.Helper()
	for line := range bytes.Lines(readFile(t, path)) {
		var row T
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// linesOf writes some rows of the source as JSONL.
func linesOf(t *testing.T, from, to int) string {
	t.Helper()
	type sourceRow struct {
		Prompt   *string `parquet:"prompt,optional" json:"prompt"`
		Solution *string `parquet:"gold_standard_solution,optional" json:"gold_standard_solution,omitempty"`
		Tests    *string `parquet:"verification_info,optional" json:"verification_info"`
		Source   *string `parquet:"source,optional" json:"source"`
	}
	rows, err := parquet.ReadFile[sourceRow](sourceFile)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	for _, row := range rows[from:min(to, len(rows))] {
		if err := enc.Encode(row); err != nil {
			t.Fatal(err)
		}
		text.WriteByte('\n') // blank lines are no rows
	}
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
