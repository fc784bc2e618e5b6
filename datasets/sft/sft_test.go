package sft

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/coderl/cr/datasets/source"
)

// The golden files are the rows that golden.py keeps of source.py's files.
func TestFilterKeepsTheRecipesRows(t *testing.T) {
	for _, name := range []string{"text", "object"} {
		t.Run(name, func(t *testing.T) {
			in, out := filepath.Join("testdata", name+".parquet"), filepath.Join(t.TempDir(), "out.parquet")
			var want []int
			readJSON(t, filepath.Join("testdata", name+".json"), &want)
			summary, err := Filter(t.Context(), []string{in, in}, out, Options{})
			if err != nil {
				t.Fatal(err)
			}
			before, after := tableRows(t, in), tableRows(t, out)
			if summary.Rows != 2*len(before) || summary.Kept != 2*len(want) || len(after) != 2*len(want) {
				t.Fatalf("%+v and %d rows written, want twice %d of %d", summary, len(after), len(want), len(before))
			}
			for i, row := range after {
				if wanted := before[want[i%len(want)]]; !equalRows(row, wanted) {
					t.Fatalf("row %d is not row %d of the source:\n%.2000v\n%.2000v", i, want[i%len(want)], row, wanted)
				}
			}
		})
	}
}

func TestOutputIsZstdWithoutForeignMetadata(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.parquet")
	if _, err := Filter(t.Context(), []string{"testdata/text.parquet"}, out, Options{}); err != nil {
		t.Fatal(err)
	}
	file, parsed, err := source.OpenParquet(out)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if n := len(parsed.Metadata().KeyValueMetadata); n != 0 {
		t.Errorf("%d entries of metadata", n)
	}
	for _, column := range parsed.Metadata().RowGroups[0].Columns {
		if column.MetaData.Codec != parquet.Zstd.CompressionCodec() {
			t.Errorf("column %v is compressed by %v", column.MetaData.PathInSchema, column.MetaData.Codec)
		}
	}
}

func TestUnfitFiles(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.parquet")
	if err := os.WriteFile(broken, []byte("PAR1xxxxxxxxPAR1"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "plain.parquet")
	if err := parquet.WriteFile(plain, []struct{ Text string }{{"a"}}); err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string][]string{
		"no messages":     {plain},
		"another schema":  {"testdata/text.parquet", "testdata/object.parquet"},
		"a damaged file":  {broken},
		"no file at all":  {filepath.Join(dir, "absent.parquet")},
		"a text file":     {"sft_test.go"},
		"damaged, second": {"testdata/text.parquet", broken},
	} {
		out := filepath.Join(dir, "out.parquet")
		if _, err := Filter(t.Context(), files, out, Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: there is an output (%v)", name, err)
		}
	}
}

func TestHasPython(t *testing.T) {
	for text, want := range map[string]bool{
		"```python\nx\n```": true, "```PyThOn```": true, "````python```": true, "```python": false, "```python``": false,
		"```py\n```": false, "``` ```python x ```": true, "": false, "```": false, "```python3 x```": true, "python```": false,
	} {
		if got := hasPython(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

func tableRows(t *testing.T, path string) (rows []parquet.Row) {
	t.Helper()
	file, parsed, err := source.OpenParquet(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, group := range parsed.RowGroups() {
		reader := group.Rows()
		buf := make([]parquet.Row, 1)
		for {
			n, err := reader.ReadRows(buf)
			if n == 1 {
				rows = append(rows, buf[0].Clone())
			}
			if errors.Is(err, io.EOF) || n == 0 {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

// equalRows compares values bit by bit, NaN too, and their levels: null, empty
// and null element differ.
func equalRows(a, b parquet.Row) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		if x.IsNull() != y.IsNull() || x.DefinitionLevel() != y.DefinitionLevel() || x.RepetitionLevel() != y.RepetitionLevel() ||
			x.Column() != y.Column() || !bytes.Equal(x.Bytes(), y.Bytes()) {
			return false
		}
	}
	return true
}
