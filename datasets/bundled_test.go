package datasets

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/coderl/cr/sandbox/judge"
)

func TestBundledShape(t *testing.T) {
	set, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	functional, special := 0, 0
	for _, p := range set.Problems {
		if p.Functional() {
			functional++
		}
		if p.Checker != nil && p.Checker.Mode == "program" {
			special++
		}
		if p.Platform != "bundled" || p.Public != 2 || len(p.Tests) < 6 || p.ContestDate.IsZero() || p.Statement == "" {
			t.Errorf("%s: platform %q, %d public of %d tests, date %s", p.ID, p.Platform, p.Public, len(p.Tests), p.ContestDate)
		}
		if p.Functional() != (p.StarterCode != "") {
			t.Errorf("%s: method %q with starter code %q", p.ID, p.Method, p.StarterCode)
		}
	}
	if len(set.Problems) != 20 || functional != 8 || special != 2 {
		t.Errorf("%d problems, %d functional, %d with a special judge; want 20, 8, 2", len(set.Problems), functional, special)
	}
	if !slices.IsSortedFunc(set.Problems, func(a, b Problem) int { return cmpID(a.ID, b.ID) }) {
		t.Error("not ordered by ID")
	}
}

func cmpID(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// program is a solution with the verdict it must get.
type program struct{ name, verdict, code string }

var programHeader = regexp.MustCompile(`(?m)^-- (.+) ([A-Z]+) --\n`)

// programsFor reads testdata/bundled/ID.txt: programs under headers that name
// them and their verdict.
func programsFor(t *testing.T, id string) []program {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "bundled", id+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	headers := programHeader.FindAllStringSubmatchIndex(text, -1)
	var programs []program
	for i, h := range headers {
		end := len(text)
		if i+1 < len(headers) {
			end = headers[i+1][0]
		}
		programs = append(programs, program{text[h[2]:h[3]], text[h[4]:h[5]], text[h[1]:end]})
	}
	return programs
}

// TestBundledVerdicts runs every reference and every typical mistake in the real
// sandbox.
func TestBundledVerdicts(t *testing.T) {
	set, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	j := openJudge(t)
	for _, p := range set.Problems {
		wrong, right := 0, 0
		for _, program := range programsFor(t, p.ID) {
			report, err := j.Judge(t.Context(), program.code, taskOf(p, judge.Strict))
			if err != nil {
				t.Fatalf("%s: %s: %v", p.ID, program.name, err)
			}
			if string(report.Verdict) != program.verdict {
				t.Errorf("%s: %s: got %s, want %s: %+v", p.ID, program.name, report.Verdict, program.verdict, report.Tests)
			}
			if program.verdict == "AC" {
				right++
			} else {
				wrong++
			}
		}
		if right < 1 || wrong < 2 {
			t.Errorf("%s: %d right and %d wrong programs; want at least 1 and 2", p.ID, right, wrong)
		}
	}
}
