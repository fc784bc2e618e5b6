package logs

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// logsOf joins the rows of one scanner.
func logsOf(s *scanner) *Logs {
	f := &openFile{logFile: logFile{path: s.file, run: "run", objects: s.objects}, scanner: s}
	c := &Collection{columns: s.columns, files: map[string]*openFile{s.file: f}, order: []string{s.file}}
	return c.Logs()
}

func seeds(f *testing.F, pattern string) {
	f.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(paths) == 0 {
		f.Fatalf("%v, %v", paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, 7)
	}
}

// check holds any log to what must hold: the table does not depend on how the file
// was cut for reading, is readable, and has no step twice.
func check(t *testing.T, text []byte, chunk int, objects bool) {
	var tables [2]bytes.Buffer
	for i, size := range []int{len(text) + 1, max(1, chunk%1000)} {
		s := newScanner("x", objects, newColumns())
		scanAll(s, text, size)
		found := logsOf(s)
		if err := found.WriteCSV(&tables[i], Table{Runs: true}); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, r := range found.Runs {
			for _, row := range r.Rows {
				key := fmt.Sprint(r.Name, row.Step)
				if seen[key] {
					t.Fatalf("%s stands twice", key)
				}
				seen[key] = true
			}
		}
		_ = View(found.Summaries(), 80)
	}
	if !bytes.Equal(tables[0].Bytes(), tables[1].Bytes()) {
		t.Fatalf("read whole:\n%s\nread in parts:\n%s", &tables[0], &tables[1])
	}
	if _, err := csv.NewReader(&tables[0]).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

func FuzzConsole(f *testing.F) {
	for _, pattern := range []string{"*/*.log", "*/*.out", "pprint.log"} {
		seeds(f, pattern)
	}
	f.Fuzz(func(t *testing.T, text []byte, chunk int) { check(t, text, chunk, false) })
}

func FuzzObjects(f *testing.F) {
	seeds(f, "*/*.jsonl")
	f.Add([]byte(`{"step": 1, "a": NaN, "data": {"b": "-inf", "c": [1], "d": {"e": 1}}}`), 3)
	f.Fuzz(func(t *testing.T, text []byte, chunk int) { check(t, text, chunk, true) })
}

// FuzzDecoder: the text does not depend on how the bytes came, and what is UTF-8
// stays as it is.
func FuzzDecoder(f *testing.F) {
	for _, text := range []string{"step:1", "\xef\xbb\xbfa", "\xff\xfea\x00\x3d\xd8\x00\xde", "\xfe\xff\x00a\xd8", "a\x00b\x00", "\x00a\x00b", "\xff", ""} {
		f.Add([]byte(text), 1)
	}
	f.Fuzz(func(t *testing.T, text []byte, chunk int) {
		var whole, parts decoder
		want := bytes.Clone(whole.text(text, true))
		var got []byte
		for rest := text; len(rest) > 0; {
			n := min(len(rest), max(1, chunk%7))
			got = append(got, parts.text(rest[:n], false)...)
			rest = rest[n:]
		}
		got = append(got, parts.text(nil, true)...)
		if !bytes.Equal(got, want) {
			t.Fatalf("%q becomes %q in parts, %q whole", text, got, want)
		}
		if whole.order == nil && !bytes.HasSuffix(text, want) {
			t.Fatalf("%q becomes %q", text, want)
		}
	})
}
