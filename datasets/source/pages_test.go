package source

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

type pagesRow struct {
	Plain string  `parquet:"plain,plain"`
	Few   *string `parquet:"few,optional,dict"`
}

// pagesFile has texts and nulls, in runs and one by one.
func pagesFile(t testing.TB, rows int, options ...parquet.WriterOption) []byte {
	var file bytes.Buffer
	w := parquet.NewGenericWriter[pagesRow](&file, options...)
	for i := range rows {
		row := pagesRow{Plain: strings.Repeat("é", i%7)}
		text := fmt.Sprint("t", i%300)
		if i%3 > 0 || i > rows/2 {
			row.Few = &text
		}
		if _, err := w.Write([]pagesRow{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// textsOf reads a column to its end or fault.
func textsOf(column textColumn, rows int) (texts []string, err error) {
	defer column.close()
	err = Guard(func() error {
		for range rows {
			text, ok, err := column.next()
			if err != nil {
				return err
			}
			texts = append(texts, fmt.Sprint(ok, string(text)))
		}
		return nil
	})
	return texts, err
}

// comparePages reads the file's columns page by page and as the library does,
// and returns how many it read in both ways.
func comparePages(t *testing.T, file []byte, columns []string) (compared int, err error) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open([]string{path}, columns)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	for _, c := range s.chunks {
		for i, field := range c.fields {
			quick, ok := s.column(c, i).(*pageReader)
			if !ok {
				continue
			}
			rows := int(min(10_000, c.group.NumRows()))
			got, err := textsOf(quick, rows)
			if err != nil {
				return compared, err
			}
			want, err := textsOf(newValueReader(c.group.ColumnChunks()[field.column]), rows)
			if err != nil {
				return compared, err
			}
			if !slices.Equal(got, want) {
				t.Fatalf("column %d:\n%q\nwant\n%q", i, got, want)
			}
			compared++
		}
	}
	return compared, nil
}

func TestPagesAreReadAsTheLibraryDoes(t *testing.T) {
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy} {
		for version := 1; version <= 2; version++ {
			file := pagesFile(t, 2000, parquet.Compression(codec), parquet.DataPageVersion(version),
				parquet.PageBufferSize(2000), parquet.MaxRowsPerRowGroup(900))
			n, err := comparePages(t, file, []string{"plain", "few"})
			if err != nil || n != 6 {
				t.Errorf("%v, version %d: %d columns, %v", codec, version, n, err)
			}
		}
	}
}

// FuzzPages damages files: what is read in both ways is the same.
func FuzzPages(f *testing.F) {
	for version := 1; version <= 2; version++ {
		f.Add(pagesFile(f, 60, parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(version)))
		f.Add(pagesFile(f, 60, parquet.DataPageVersion(version)))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		// Damage may be found by either.
		_, _ = comparePages(t, file, []string{"few", "plain"})
	})
}

func TestHybridRuns(t *testing.T) {
	for _, c := range []struct {
		data  string
		width int
		want  string
	}{
		{"\x06\x05", 3, "[5 5 5]"},
		{"\x03\x88\xc6\xfa", 3, "[0 1 2 3 4 5 6 7]"}, // the format's own example
		{"\x02\x01\x03\x88\xc6\xfa", 3, "[1 0 1 2 3 4 5 6 7]"},
		{"\x04\x01\x02\x03\x04", 32, "[67305985 67305985]"},
		{"\x03\x02", 1, "[0 1 0 0 0 0 0 0]"},
		{"\x06", 3, "[]"},
		{"\x03\x88", 3, "[0 1]"},
		{"", 3, "[]"},
	} {
		h := hybrid{data: []byte(c.data), width: c.width}
		got := []uint32{}
		for {
			v, err := h.next()
			if err != nil {
				break
			}
			got = append(got, v)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%q of %d bits: %v, want %s", c.data, c.width, got, c.want)
		}
	}
}
