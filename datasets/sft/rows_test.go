package sft

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/coderl/cr/datasets/source"
)

func rowsOf(t *testing.T, files ...string) (rows []Row) {
	t.Helper()
	err := Read(t.Context(), files, DefaultColumns(), func(row Row) error {
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// testdata/rows.py wrote the rows with pyarrow and, beside them, what pyarrow
// reads, without a struct's null members.
func TestRowsAreThoseOfPyarrow(t *testing.T) {
	for _, name := range []string{"text", "object", "nested"} {
		data, err := os.ReadFile(filepath.Join("testdata", name+"_rows.json"))
		if err != nil {
			t.Fatal(err)
		}
		var want []struct{ Messages, Tools, Thinking any }
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		got := rowsOf(t, filepath.Join("testdata", name+".parquet"))
		if len(got) < len(want) {
			t.Fatalf("%s: %d rows, want %d", name, len(got), len(want))
		}
		for i, w := range want {
			for field, pair := range map[string][2]any{
				"messages": {got[i].Messages, w.Messages}, "tools": {got[i].Tools, w.Tools}, "enable_thinking": {got[i].Thinking, w.Thinking},
			} {
				var v any
				if raw := pair[0].(json.RawMessage); raw != nil {
					if err := json.Unmarshal(raw, &v); err != nil {
						t.Errorf("%s: %s: %v", got[i].Name(), field, err)
					}
				}
				if !reflect.DeepEqual(v, pair[1]) {
					t.Errorf("%s: %s: %v, want %v", got[i].Name(), field, v, pair[1])
				}
			}
		}
	}
}

// A number stays of its kind, and members stay in their order, in the very text.
func TestRowsText(t *testing.T) {
	type message struct {
		Role string  `parquet:"role"`
		Z    float64 `parquet:"z"`
		A    uint64  `parquet:"a"`
		B    bool    `parquet:"b"`
		C    *int32  `parquet:"c,optional"`
	}
	type row struct {
		Messages []message `parquet:"messages,list"`
	}
	path := filepath.Join(t.TempDir(), "rows.parquet")
	if err := parquet.WriteFile(path, []row{{[]message{{"é<&\n", 1, 1 << 63, true, nil}, {"", 1e300, 0, false, new(int32(-1))}}}, {}}); err != nil {
		t.Fatal(err)
	}
	got := rowsOf(t, path)
	want := `[{"role":"é<&\n","z":1.0,"a":9223372036854775808,"b":true},{"role":"","z":1e+300,"a":0,"b":false,"c":-1}]`
	if string(got[0].Messages) != want {
		t.Errorf("got  %s\nwant %s", got[0].Messages, want)
	}
	if got[1].Name() != path+": row 1" || string(got[1].Messages) != "[]" {
		t.Errorf("%s: %s", got[1].Name(), got[1].Messages)
	}
}

func TestRowsOfLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("\ufeff{\"messages\": [1.50, 12345678901234567890], \"tools\": null, \"enable_thinking\": false}\n\n {\"messages\": null, \"other\": 1}")
	got := rowsOf(t, path)
	if len(got) != 2 || string(got[0].Messages) != "[1.50, 12345678901234567890]" || got[0].Tools != nil || string(got[0].Thinking) != "false" {
		t.Errorf("%+v", got)
	}
	if got[1].Name() != path+": line 3" || got[1].Messages != nil {
		t.Errorf("%+v", got[1])
	}
	for text, want := range map[string]string{
		"{\"messages\": []}\n{\"messages\": ": "line 2: unexpected end",
		"{\"message\": []}":                   `line 1: no field "messages"`,
		"[]":                                  "line 1: ",
		"{\"messages\": \"\xff\"}":            "line 1: the text is not UTF-8",
	} {
		write(text)
		err := Read(t.Context(), []string{path}, DefaultColumns(), func(Row) error { return nil })
		if !errors.As(err, new(*source.Error)) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestRowsOfUnfitTables(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		write func(string) error
		want  string
	}{
		"no messages": {func(p string) error { return parquet.WriteFile(p, []struct{ Text string }{{"a"}}) }, `no column "messages"`},
		"not UTF-8": {func(p string) error {
			return parquet.WriteFile(p, []struct {
				M string `parquet:"messages"`
			}{{"ok"}, {"\xff"}})
		}, "row 1: a text is not UTF-8"},
		"damaged": {func(p string) error { return os.WriteFile(p, []byte("PAR1xxxxxxxxPAR1"), 0o600) }, "footer"},
	} {
		path := filepath.Join(dir, "unfit.parquet")
		if err := c.write(path); err != nil {
			t.Fatal(err)
		}
		err := Read(t.Context(), []string{path}, DefaultColumns(), func(Row) error { return nil })
		if !errors.As(err, new(*source.Error)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestReadStops(t *testing.T) {
	stop := errors.New("enough")
	n := 0
	err := Read(t.Context(), []string{"testdata/text.parquet"}, DefaultColumns(), func(Row) error {
		n++
		return stop
	})
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("%d rows, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Read(ctx, []string{"testdata/text.parquet"}, DefaultColumns(), func(Row) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Whatever bytes a file has, reading gives JSON or an error.
func FuzzRows(f *testing.F) {
	for _, name := range []string{"text.parquet", "object.parquet", "nested.parquet"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, true)
	}
	f.Add([]byte("{\"messages\": [{\"role\": \"user\"}], \"tools\": \"[]\"}\n{"), false)
	f.Fuzz(func(t *testing.T, data []byte, table bool) {
		name := "rows.jsonl"
		if table {
			name = "rows.parquet"
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		// An error is fine: what counts is that nothing else happens.
		_ = Read(t.Context(), []string{path}, DefaultColumns(), func(row Row) error {
			for _, raw := range []json.RawMessage{row.Messages, row.Tools, row.Thinking} {
				if raw != nil && !json.Valid(raw) {
					t.Errorf("not JSON: %q", raw)
				}
			}
			return nil
		})
	})
}
