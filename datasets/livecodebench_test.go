package datasets

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// line writes one problem in LiveCodeBench's schema, with fields changed.
func line(t *testing.T, id string, changes map[string]any) string {
	t.Helper()
	fields := map[string]any{
		"question_title": "T", "question_content": "S", "platform": "atcoder", "question_id": id,
		"contest_id": "c", "contest_date": "2024-09-01T00:00:00", "starter_code": "", "difficulty": "easy",
		"public_test_cases":  `[{"input":"1\n","output":"1\n","testtype":"stdin"}]`,
		"private_test_cases": `[{"input":"2\n","output":"2\n","testtype":"stdin"}]`,
		"metadata":           "{}",
	}
	for key, value := range changes {
		fields[key] = value
		if value == nil {
			delete(fields, key)
		}
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func write(t *testing.T, path string, lines ...string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// releaseFolder writes all six files at their true sizes. File n's contests are
// in month n of 2024, but for the first two rows of file 6: the evening and the
// noon of the last day of June.
func releaseFolder(t *testing.T, folder string) string {
	t.Helper()
	for i, n := range increments {
		var lines []string
		for k := range n {
			date := fmt.Sprintf("2024-%02d-15T00:00:00", i+1)
			if i == 5 && k < 2 {
				date = []string{"2024-06-30T18:30:00", "2024-06-30T12:00:00.5"}[k]
			}
			lines = append(lines, line(t, fmt.Sprintf("p%d_%d", i+1, k), map[string]any{"contest_date": date}))
		}
		write(t, filepath.Join(folder, fileName(i+1)), lines...)
	}
	return folder
}

func TestReleases(t *testing.T) {
	folder := releaseFolder(t, t.TempDir())
	for spelling, want := range map[string]struct {
		name     string
		problems int
	}{
		"v1": {"v1", 400}, "release_v2": {"v2", 511}, "v3": {"v3", 612}, "v4": {"v4", 713}, "v5": {"v5", 880}, "V6": {"v6", 1055},
		"release_latest": {"v6", 1055}, "latest": {"v6", 1055}, "v4_v5": {"v4_v5", 268}, "v6_v6": {"v6_v6", 175}, "v1_v2": {"v2", 511},
	} {
		set, err := LoadLiveCodeBench(t.Context(), Source{Path: folder}, Options{Release: spelling})
		if err != nil {
			t.Errorf("%s: %v", spelling, err)
			continue
		}
		if len(set.Problems) != want.problems || set.Release != want.name || set.Name != want.name || set.Window != "" {
			t.Errorf("%s: %d problems of %q, window %q", spelling, len(set.Problems), set.Release, set.Window)
		}
	}
	for _, spelling := range []string{"v0", "v7", "v5_v4", "5", "v05", "v1_", "newest"} {
		if _, err := LoadLiveCodeBench(t.Context(), Source{Path: folder}, Options{Release: spelling}); err == nil {
			t.Errorf("release %q was loaded", spelling)
		}
	}
}

func TestWindow(t *testing.T) {
	folder := releaseFolder(t, t.TempDir())
	for _, tt := range []struct {
		opts Options
		want int
		note string
	}{
		{Options{Release: "v6", Start: "2024-05-15", End: "2024-06-30"}, 342, "2 on the window's last day fall differently by the date rule lcb"},
		{Options{Release: "v6", Start: "2024-05-15", End: "2024-06-30", DateCompat: LCBCompat}, 340, "2 on the window's last day fall differently by the date rule day"},
		{Options{Release: "v6", Start: "2024-06-30"}, 2, "window 2024-06-30..: 2 of them"},
		{Options{Release: "v6", End: "2024-01-15"}, 400, "window ..2024-01-15: 400 of them"},
		{Options{Release: "v6", Start: "2024-06-01", Limit: 10}, 10, "window 2024-06-01..: 175 of them"},
	} {
		set, err := LoadLiveCodeBench(t.Context(), Source{Path: folder}, tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		if len(set.Problems) != tt.want || !strings.Contains(strings.Join(set.Notes, "\n"), tt.note) {
			t.Errorf("%+v: %d problems, notes %q", tt.opts, len(set.Problems), set.Notes)
		}
	}
	for _, opts := range []Options{{Start: "2024-8-1"}, {End: "today"}, {Start: "2024-02-01", End: "2024-01-01"}, {DateCompat: "week"}} {
		opts.Release = "v1"
		if _, err := LoadLiveCodeBench(t.Context(), Source{Path: folder}, opts); err == nil {
			t.Errorf("%+v was accepted", opts)
		}
	}
}

func TestCountsAreChecked(t *testing.T) {
	folder := t.TempDir()
	file := write(t, filepath.Join(folder, "test.jsonl"), line(t, "a", nil), line(t, "b", nil))
	for _, path := range []string{folder, file} {
		_, err := LoadLiveCodeBench(t.Context(), Source{Path: path}, Options{Release: "v1"})
		if err == nil || !strings.Contains(err.Error(), "2 problems, but release v1 has 400") {
			t.Errorf("%s: got %v", path, err)
		}
		set, err := LoadLiveCodeBench(t.Context(), Source{Path: path}, Options{Release: "v1", Limit: 1})
		if err != nil || len(set.Problems) != 1 || set.Problems[0].ID != "a" {
			t.Errorf("%s, limited: %d problems, %v", path, len(set.Problems), err)
		}
	}
	_, err := LoadLiveCodeBench(t.Context(), Source{Path: folder}, Options{Release: "v2"})
	if err == nil || !strings.Contains(err.Error(), "release v2 needs test2.jsonl") {
		t.Errorf("a file less: got %v", err)
	}
}

func TestCache(t *testing.T) {
	root := t.TempDir()
	if _, err := LoadLiveCodeBench(t.Context(), Source{HubCache: root}, Options{Release: "v1"}); !errors.Is(err, ErrNotCached) {
		t.Errorf("an empty cache: got %v", err)
	}
	base := filepath.Join(root, "datasets--livecodebench--code_generation_lite")
	commit := strings.Repeat("ab", 20)
	releaseFolder(t, filepath.Join(base, "snapshots", commit))
	write(t, filepath.Join(base, "refs", "main"), commit)
	set, err := LoadLiveCodeBench(t.Context(), Source{HubCache: root}, Options{Release: "v1", Limit: 3})
	if err != nil || len(set.Problems) != 3 {
		t.Errorf("%d problems, %v", len(set.Problems), err)
	}
	write(t, filepath.Join(base, "refs", "main"), "../../..")
	if _, err := LoadLiveCodeBench(t.Context(), Source{HubCache: root}, Options{Release: "v1"}); err == nil {
		t.Error("a ref outside the cache was followed")
	}
}

func TestOwnFile(t *testing.T) {
	extras := map[string]any{
		"checker": map[string]any{"mode": "abs", "eps": 0.5},
		"limits":  map[string]any{"seconds": 1.5, "memory_mb": 64, "output_mb": 2},
	}
	call := map[string]any{
		"metadata":           `{"func_name":"f"}`,
		"public_test_cases":  []any{map[string]any{"input": "1\n[2]", "output": "3", "testtype": "functional"}},
		"private_test_cases": nil,
		"contest_date":       nil,
	}
	file := write(t, filepath.Join(t.TempDir(), "mine.jsonl"), "\ufeff"+line(t, "b", extras), "", line(t, "a", call), line(t, "abc343_a", map[string]any{"platform": "mine"}))
	set, err := LoadLiveCodeBench(t.Context(), Source{Path: file}, Options{Start: "2030-01-01"})
	if err != nil {
		t.Fatal(err)
	}
	if set.Name != "mine.jsonl" || set.Release != "" || set.Window != "" || len(set.Problems) != 3 || len(set.SHA256) != 64 {
		t.Fatalf("got %+v", set)
	}
	a, abc, b := set.Problems[0], set.Problems[1], set.Problems[2]
	if !a.Functional() || a.Public != 1 || len(a.Tests) != 1 || !a.ContestDate.IsZero() {
		t.Errorf("a: %+v", a)
	}
	if abc.Checker != nil {
		t.Error("one's own problem got AtCoder's checker")
	}
	if b.Checker.Eps != 0.5 || b.Limits.CPU.Seconds() != 1.5 || b.Limits.Memory != 64<<20 || b.Limits.Output != 2<<20 {
		t.Errorf("b: checker %+v, limits %+v", b.Checker, b.Limits)
	}
	if b.Public != 1 || len(b.Tests) != 2 || b.Tests[0].Input != "1\n" || b.Tests[1].Input != "2\n" {
		t.Errorf("b: tests %+v, %d public", b.Tests, b.Public)
	}
}

func TestErrorsNameTheirPlace(t *testing.T) {
	good := line(t, "a", nil)
	for name, tt := range map[string]struct{ second, want string }{
		"not JSON":           {"{", "line 2: not JSON: unexpected end of JSON input; every line must be one whole"},
		"a list":             {"[]", "line 2: a JSON array where an object belongs; every line must"},
		"no ID":              {line(t, "", nil), "line 2: question_id is missing"},
		"an ID twice":        {good, "line 2: a: question_id stands already at "},
		"a number as title":  {line(t, "b", map[string]any{"question_title": 5}), "line 2: question_title: a number where a string belongs"},
		"date":               {line(t, "b", map[string]any{"contest_date": "May 5"}), `line 2: b: contest_date: "May 5" is no date`},
		"tests":              {line(t, "b", map[string]any{"public_test_cases": "[{]"}), "line 2: b: public_test_cases: not JSON: "},
		"a test's input":     {line(t, "b", map[string]any{"public_test_cases": `[{"input":1}]`}), "line 2: b: public_test_cases: input: a number where a string belongs"},
		"no output":          {line(t, "b", map[string]any{"public_test_cases": `[{"input":"1","testtype":"stdin"}]`}), "line 2: b: public_test_cases: test 1: it needs an input and an output"},
		"a null input":       {line(t, "b", map[string]any{"private_test_cases": `[{"input":null,"output":"1"}]`}), "line 2: b: private_test_cases: test 1: it needs an input and an output"},
		"tests in an object": {line(t, "b", map[string]any{"public_test_cases": `{}`}), "line 2: b: public_test_cases: a JSON object where a list belongs"},
		"method's name":      {line(t, "b", map[string]any{"metadata": `{"func_name":"f; g"}`}), `line 2: b: metadata: func_name: "f; g" is no name`},
		"checker's kind":     {line(t, "b", map[string]any{"checker": "tokens"}), "line 2: checker: a string where an object belongs"},
		"limit's kind":       {line(t, "b", map[string]any{"limits": map[string]any{"seconds": "2"}}), "line 2: limits.seconds: a string where a number belongs"},
		"encoding":           {"{\"question_id\":\"b\",\"question_content\":\"caf\xe9\"}", "line 2: the text is not UTF-8"},
		"checker's language": {line(t, "b", map[string]any{"checker": map[string]any{"mode": "program", "code": "x", "language": "brainfuck"}}), `line 2: b: checker: language "brainfuck"`},
		"test type":          {line(t, "b", map[string]any{"public_test_cases": `[{"testtype":"x"}]`}), `line 2: b: public_test_cases: test 1: testtype "x"`},
		"no method":          {line(t, "b", map[string]any{"public_test_cases": `[{"testtype":"functional"}]`}), "line 2: b: public_test_cases: test 1 is functional, but"},
		"private":            {line(t, "b", map[string]any{"private_test_cases": "AAAA"}), "line 2: b: private_test_cases: neither JSON nor"},
		"metadata":           {line(t, "b", map[string]any{"metadata": "x"}), "line 2: b: metadata: not JSON: "},
		"checker":            {line(t, "b", map[string]any{"checker": map[string]any{"mode": "fuzzy"}}), `line 2: b: checker: checker mode "fuzzy"`},
		"limits":             {line(t, "b", map[string]any{"limits": map[string]any{"seconds": -1}}), "line 2: b: limits: seconds: -1"},
		"an argument": {
			line(t, "b", map[string]any{"metadata": `{"func_name":"f"}`, "public_test_cases": nil, "private_test_cases": `[{"input":"x","output":"1"}]`}),
			"line 2: b: private_test_cases: test 1: input line 1 is not a JSON value: 'x'",
		},
		"a pointer file": {"version https://git-lfs.github.com/spec/v1", "line 2: a Git LFS pointer"},
	} {
		file := write(t, filepath.Join(t.TempDir(), "p.jsonl"), good, tt.second)
		_, err := LoadLiveCodeBench(t.Context(), Source{Path: file}, Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got  %v\nwant %s", name, err, tt.want)
		}
	}
	if _, err := LoadLiveCodeBench(t.Context(), Source{Path: t.TempDir()}, Options{}); err == nil {
		t.Error("an empty folder was loaded")
	}
}

func TestPrivateTestsAsPythonPacksThem(t *testing.T) {
	raw, err := os.ReadFile("testdata/private.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases struct{ Good, Bad map[string]string }
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for name, field := range cases.Good {
		tests, err := privateTests(embedded(field), "")
		if err != nil || len(tests) != 2 || tests[0].Input != "1 2\n" || tests[0].Output != "3\n" || tests[1].Input != "é\n" {
			t.Errorf("%s: %+v, %v", name, tests, err)
		}
	}
	for name, field := range cases.Bad {
		if tests, err := privateTests(embedded(field), ""); err == nil {
			t.Errorf("%s: decoded to %+v", name, tests)
		}
	}
	packed := []byte(cases.Good["pickled text"])
	if _, err := inflate(packed, 50); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("beyond the limit: got %v", err)
	}
}

// TestCompleteRecords loads real rows with their private tests.
func TestCompleteRecords(t *testing.T) {
	data := outsideData(t)
	set, err := LoadLiveCodeBench(t.Context(), Source{Path: filepath.Join(data, "lcb", "lcb_v1_full_records_3.jsonl")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// Sizes and first inputs as CPython's pickle gives them.
	want := []struct {
		id            string
		public, tests int
		firstPrivate  string
	}{{"1873_A", 1, 5, "1\nabc\n"}, {"2727", 2, 14, `["3988132605O4995"]`}, {"abc301_a", 3, 15, "90\nATTTT"}}
	for i, w := range want {
		p := set.Problems[i]
		if p.ID != w.id || p.Public != w.public || len(p.Tests) != w.tests || !strings.HasPrefix(p.Tests[p.Public].Input, w.firstPrivate) {
			t.Errorf("%s: %d public of %d tests, first private input %.20q", p.ID, p.Public, len(p.Tests), p.Tests[p.Public].Input)
		}
	}
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte(`{"question_id":"a","public_test_cases":"[{\"input\":\"1\",\"output\":\"2\"}]","contest_date":"2024-01-01"}`))
	f.Add([]byte(`{"question_id":"a","private_test_cases":"eJxrYJmaz8gABhEZQEZ0tVJmXkFpiZKVgpJhTF5iUnJMnpKOglJ+aQlUNNI1GCJUklpcUlJZkAoSLC5JycxTqtVRQNJuDNWOILAY","metadata":{"func_name":"f"},"limits":{"seconds":1e300},"checker":{"mode":"abs","eps":1}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := parseRecord(raw)
		if err != nil {
			return
		}
		p, err := r.problem()
		if err == nil && (p.Public > len(p.Tests) || p.Limits.CPU < 0 || p.ID == "") {
			t.Fatalf("%+v", p)
		}
	})
}
