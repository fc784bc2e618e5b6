package logs

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func golden(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// fromHex reads what Python's float.hex writes.
func fromHex(t *testing.T, text string) float64 {
	t.Helper()
	if strings.Contains(text, "0x") && !strings.Contains(text, "p") {
		text += "p0"
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestNumbersAsPython holds parseNumber to what Python and numpy print.
func TestNumbersAsPython(t *testing.T) {
	var rows [][2]*string
	golden(t, "numbers.json", &rows)
	if len(rows) < 200 {
		t.Fatalf("only %d rows", len(rows))
	}
	for _, row := range rows {
		got, kind := parseNumber(*row[0])
		switch {
		case row[1] == nil:
			if kind != isMissing {
				t.Errorf("%q: kind %v, want missing", *row[0], kind)
			}
		case *row[1] == "no":
			if kind != notNumber {
				t.Errorf("%q: %v, want no number", *row[0], got)
			}
		default:
			if want := fromHex(t, *row[1]); kind != isNumber || !same(got, want) || math.Signbit(got) != math.Signbit(want) && got == 0 {
				t.Errorf("%q: %v (kind %v), want %v", *row[0], got, kind, want)
			}
		}
	}
}

// TestFormatReadsBack: what the table holds is the value that was read.
func TestFormatReadsBack(t *testing.T) {
	var rows [][2]*string
	golden(t, "numbers.json", &rows)
	for _, row := range rows {
		v, kind := parseNumber(*row[0])
		if kind != isNumber {
			continue
		}
		if back, kind := parseNumber(formatValue(v)); kind != isNumber || !same(back, v) {
			t.Errorf("%q became %q", *row[0], formatValue(v))
		}
	}
}

// TestPrintedValidation reads what pprint made of a validation, between the lines
// of other processes: its values belong to the step before the next one.
func TestPrintedValidation(t *testing.T) {
	var want map[string]string
	golden(t, "pprint.json", &want)
	s := newScanner("pprint.log", false, newColumns())
	text, err := os.ReadFile("testdata/pprint.log")
	if err != nil {
		t.Fatal(err)
	}
	scanAll(s, text, 17)
	rows := s.part().rows
	if len(s.problems.list) > 0 || len(rows) != 2 || rows[0].step != 0 || rows[0].training || rows[1].step != 1 || len(rows[0].cells) != len(want) {
		t.Fatalf("problems %v, rows %v", s.problems.list, rows)
	}
	for key, value := range want {
		if got, ok := rows[0].get(s.columns.of(key)); !ok || !same(got, fromHex(t, value)) {
			t.Errorf("%s: %v, %v; want %s", key, got, ok, value)
		}
	}
}

func TestPrintedValidationPlaces(t *testing.T) {
	const printed = "(TaskRunner pid=1) \"Initial validation metrics: {'val-core/a/reward/mean@1': 0.5}\"\n"
	for name, c := range map[string]struct{ log, want string }{
		"after a resume":      {"step:20 - a:1\n" + printed + "step:21 - a:2\n", "20:{a:1 val-core/a/reward/mean@1:0.5} 21:{a:2}"},
		"shown by the step":   {printed + "step:7 - val-core/a/reward/mean@1:0.5 - val-aux/b:3\n", "7:{val-aux/b:3 val-core/a/reward/mean@1:0.5}"},
		"alone":               {printed, "0:{val-core/a/reward/mean@1:0.5}"},
		"at the end":          {"step:9 - a:1\n'Final validation metrics: {}'\n" + strings.Replace(printed, "Initial", "Final", 1), "9:{a:1 val-core/a/reward/mean@1:0.5}"},
		"plain, on two lines": {"Initial validation metrics: {'val-core/a/reward/mean@1': 0.5,\n 'val-aux/b': np.float64(2.0)}\nstep:1 - a:1\n", "0:{val-aux/b:2 val-core/a/reward/mean@1:0.5} 1:{a:1}"},
		"never ends":          {"Initial validation metrics: {'val-core/a/reward/mean@1': 0.5,\nstep:1 - a:1\n", "1:{a:1}"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScanner("x.log", false, newColumns())
			scanAll(s, []byte(c.log), 4096)
			var got []string
			for _, r := range s.part().rows {
				cells := map[string]float64{}
				for _, cell := range r.cells {
					cells[s.columns.names[cell.column]] = cell.value
				}
				got = append(got, fmt.Sprintf("%d:%s", r.step, strings.TrimPrefix(fmt.Sprint(cells), "map")))
			}
			want := strings.NewReplacer("{", "[", "}", "]").Replace(c.want)
			if strings.Join(got, " ") != want {
				t.Errorf("got %v, want %v", got, want)
			}
			if told := len(s.problems.list) > 0; told != (name == "never ends") {
				t.Errorf("problems %v", s.problems.list)
			}
		})
	}
}

// TestSpecWindows recovers the counts of windows from their printed lines. Drafts
// of full length come back exactly; with varying lengths as exactly as three
// printed digits allow.
func TestSpecWindows(t *testing.T) {
	var rows []struct {
		Newest, Oldest            string
		Full                      bool
		Drafts, Drafted, Accepted float64
		AcceptedAt                []float64 `json:"accepted_at"`
	}
	golden(t, "spec.json", &rows)
	for i, row := range rows {
		got, ok := parseSpecLine(row.Newest)
		if !ok || got.accepted != row.Accepted || got.draftTokens != row.Drafted {
			t.Fatalf("row %d: %+v, %v", i, got, ok)
		}
		// Each of k rates is off by at most 0.0005, so the drafts by their share of it.
		slack := 1 + row.Drafts*0.0005*float64(len(row.AcceptedAt))/max(row.Accepted/row.Drafts, 1e-3)
		if row.Full {
			slack = 0
		}
		if math.Abs(got.drafts-row.Drafts) > slack {
			t.Errorf("row %d: %v drafts, want %v", i, got.drafts, row.Drafts)
		}
		for j, n := range row.AcceptedAt {
			if math.Abs(got.acceptedAt[j]-n) > slack+0.0005*row.Drafts+1 {
				t.Errorf("row %d: %v accepted at %d, want %v", i, got.acceptedAt[j], j, n)
			}
		}
		old, ok := parseSpecLine(row.Oldest)
		if !ok || old.accepted != row.Accepted || old.draftTokens != row.Drafted || !old.draftsUnknown {
			t.Errorf("row %d, the oldest form: %+v, %v", i, old, ok)
		}
	}
}

// scanAll feeds text in chunks.
func scanAll(s *scanner, text []byte, chunk int) {
	split := splitter{number: 1, line: s.line, tooLong: func(n int64) { s.problems.add(longLine, s.file, n, "long") }}
	for len(text) > 0 {
		n := min(chunk, len(text))
		split.feed(text[:n])
		text = text[n:]
	}
	split.finish()
	s.finish()
}

// TestBoundedMemory: a hundred megabytes of a log leave what its metrics need.
func TestBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a hundred megabytes")
	}
	s := newScanner("x.log", false, newColumns())
	split := splitter{number: 1, line: s.line, tooLong: func(int64) {}}
	noise := []byte(strings.Repeat("(WorkerDict pid=1) INFO 12:00:00 something that is not a metric\n", 4096))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 400 {
		split.feed(noise)
		split.feed(fmt.Appendf(nil, "step:%d - a:%d - b:0.5\n", i+1, i))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if rows := len(s.part().rows); rows != 400 {
		t.Fatalf("%d rows", rows)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("%d MB are held", grown>>20)
	}
}
