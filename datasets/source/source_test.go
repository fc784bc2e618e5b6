package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

type textRow struct {
	A *string `parquet:"a,optional"`
	N int64   `parquet:"n"`
	B string  `parquet:"b"`
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(names ...string) {
		for _, name := range names {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func(want ...string) {
		t.Helper()
		files, err := Files(dir)
		for i, name := range files {
			files[i], _ = filepath.Rel(dir, name)
		}
		if err != nil || !reflect.DeepEqual(files, want) {
			t.Errorf("%v (%v), want %v", files, err, want)
		}
	}
	if _, err := Files(dir); !errors.Is(err, ErrNoFiles) {
		t.Errorf("an empty folder: %v", err)
	}
	write("b.jsonl", "a.json", "README.md", ".cache/x.parquet")
	check("a.json", "b.jsonl")
	write("data/p1.parquet", "data/p0.parquet")
	check("data/p0.parquet", "data/p1.parquet")
	write("data/test-0.parquet", "data/train-1.parquet", "data/train-0.parquet", "data/constrained.parquet")
	check("data/train-0.parquet", "data/train-1.parquet")
}

func TestReadGivesRowsInOrder(t *testing.T) {
	dir := t.TempDir()
	table, lines := filepath.Join(dir, "t.parquet"), filepath.Join(dir, "l.jsonl")
	long := strings.Repeat("x", batchBytes/3)
	var rows []textRow
	var text bytes.Buffer
	text.WriteString("\ufeff")
	for i := range 20 {
		a := fmt.Sprint("a", i)
		row := textRow{A: &a, B: long}
		if i%3 == 0 {
			row.A = nil
			fmt.Fprintf(&text, "{\"b\": %q}\r\n\n", long)
		} else {
			fmt.Fprintf(&text, "{\"b\": %q, \"n\": 1, \"a\": %q}\n", long, a)
		}
		rows = append(rows, row)
	}
	if err := parquet.WriteFile(table, rows, parquet.MaxRowsPerRowGroup(7)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lines, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{table, lines} {
		set, err := Open([]string{file}, []string{"b", "a"})
		if err != nil {
			t.Fatal(err)
		}
		n, batches := 0, 0
		for chunk := range set.Chunks() {
			first := n
			err := set.Read(t.Context(), chunk, func(b *Batch) error {
				defer b.Release()
				batches++
				if b.Chunk != chunk || first+b.First != n {
					t.Errorf("%s: batch %+v at row %d", file, [3]int{b.Chunk, b.Index, b.First}, n)
				}
				for i := range b.Len() {
					fields, err := b.Row(i)
					if err != nil {
						return err
					}
					want := []Field{{Text, long}, {}}
					if rows[n].A != nil {
						want[1] = Field{Text, *rows[n].A}
					}
					if !reflect.DeepEqual(fields, want) {
						t.Errorf("%s: row %d is wrong", file, n)
					}
					n++
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if n != len(rows) || batches < 6 {
			t.Errorf("%s: %d rows in %d batches", file, n, batches)
		}
		if err := set.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUnfitFiles(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "t.parquet")
	if err := parquet.WriteFile(table, []textRow{{}}); err != nil {
		t.Fatal(err)
	}
	nested := filepath.Join(dir, "n.parquet")
	if err := parquet.WriteFile(nested, []struct {
		A struct{ B string } `parquet:"a"`
		L []string           `parquet:"l,list"`
	}{{}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, columns, want string }{
		{nested, "a", `column "a" holds a list or struct, not text`},
		{nested, "l", `column "l" holds a list or struct, not text`},
		{table, "b,c", `no column "c"; it has a, n, b`},
		{table, "n", `column "n" holds`},
		{filepath.Join(dir, "absent.parquet"), "a", "no such file"},
		{"source_test.go", "a", "not a parquet file"},
	} {
		_, err := Open([]string{c.name}, strings.Split(c.columns, ","))
		if !errors.As(err, new(*Error)) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), c.name) {
			t.Errorf("%s with %s: %v, want %q", c.name, c.columns, err, c.want)
		}
	}
}

func TestBadLines(t *testing.T) {
	for text, want := range map[string]string{
		"{\"a\": 1}\n[]":      "line 2: not a JSON object",
		"\n{":                 "line 2: at byte 1",
		"{\"b\": 1}":          "line 1: none of the fields a",
		"{\"a\": 1} {}":       "line 1: at byte 9: text after the value",
		"{\"a\": \"\xff\"}":   "line 1: at byte 0: not UTF-8",
		"{\"a\":\"\\ud800\"}": "",
	} {
		path := filepath.Join(t.TempDir(), "l.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := readAll(t.Context(), path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func readAll(ctx context.Context, path string) error {
	set, err := Open([]string{path}, []string{"a"})
	if err != nil {
		return err
	}
	for chunk := range set.Chunks() {
		err := set.Read(ctx, chunk, func(b *Batch) error {
			defer b.Release()
			for i := range b.Len() {
				if _, err := b.Row(i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return errors.Join(err, set.Close())
		}
	}
	return set.Close()
}

// FuzzParquet reads damaged files: an error or rows, never a crash.
func FuzzParquet(f *testing.F) {
	for _, options := range [][]parquet.WriterOption{{}, {parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1)}} {
		var file bytes.Buffer
		w := parquet.NewGenericWriter[textRow](&file, options...)
		word := "word"
		if _, err := w.Write([]textRow{{A: &word, B: "b"}, {B: "c"}}); err != nil {
			f.Fatal(err)
		}
		if err := w.Close(); err != nil {
			f.Fatal(err)
		}
		f.Add(file.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.parquet")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		// Any error will do.
		_ = readAll(t.Context(), path)
	})
}

// FuzzLines reads damaged JSONL: every row that is given has each column asked for.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"a\": \"x\", \"b\": null}\n\n{\"b\": 1}\r\n"))
	f.Add([]byte("\ufeff{\"a\": [1, {\"a\": \"\\ud800\"}]}"))
	f.Add([]byte("{\"a\": 1e999, \"a\": NaN}\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		set, err := Open([]string{path}, []string{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		rows := 0
		// Any error will do.
		_ = set.Read(t.Context(), 0, func(b *Batch) error {
			for i := range b.Len() {
				fields, err := b.Row(i)
				if err != nil {
					return err
				}
				if rows++; len(fields) != 2 || b.First+i >= rows {
					t.Fatalf("row %d: %+v", b.First+i, fields)
				}
			}
			return nil
		})
	})
}
