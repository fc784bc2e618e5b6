package datasets

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// full judges all 800 programs; otherwise every sampled problem's.
var full = flag.Bool("full", false, "judge every program of the LiveCodeBench agreement test")

// sampleStep is how many problems share one judged in a short run.
const sampleStep = 16

// reference is the official runner's verdict on the public tests: true, or a
// code per test up to the first that failed.
type reference struct {
	ID    string `json:"question_id"`
	Codes []any  `json:"lcb_ref"`
	Pass  bool   `json:"lcb_ref_pass"`
}

// timedOut holds for a program that the official runner stopped after six
// seconds of wall time on its own, busy host.
func (r reference) timedOut() bool {
	return len(r.Codes) > 0 && r.Codes[len(r.Codes)-1] == -3.0
}

// slow holds when a test is real work, so that a host under load may stop it: the
// official verdicts came from one that was some eight times slower.
func slow(report judge.Report) bool {
	return slices.ContainsFunc(report.Tests, func(r judge.TestResult) bool { return r.CPU > time.Second/2 })
}

// corrected is the verdict a careful reading of the statement gives.
type corrected struct {
	ID    string `json:"question_id"`
	Model string
	Tests []string `json:"corrected"`
}

func readJSONL[T any](t *testing.T, path string) []T {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows []T
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var row T
		if err := json.Unmarshal(scanner.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		rows = append(rows, row)
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// loadV1 reads LiveCodeBench v1 with its public tests, by ID.
func loadV1(t *testing.T, data string) map[string]Problem {
	t.Helper()
	src := Source{Path: filepath.Join(data, "lcb", "lcb_v1_public_only.jsonl")}
	set, err := LoadLiveCodeBench(t.Context(), src, Options{Release: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	problems := map[string]Problem{}
	for _, p := range set.Problems {
		problems[p.ID] = p
	}
	return problems
}

func programsOf(t *testing.T, data, model string) map[string]string {
	t.Helper()
	samples, err := LoadSamples(t.Context(), filepath.Join(data, "candidates", "mavencoder", "lcb_"+model+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	programs := map[string]string{}
	for _, s := range samples.Entries {
		programs[s.ID] = s.Text
	}
	return programs
}

// TestAgreesWithTheOfficialRunner judges real model programs under Published.
func TestAgreesWithTheOfficialRunner(t *testing.T) {
	data := outsideData(t)
	problems, j := loadV1(t, data), openJudge(t)
	for _, model := range []string{"gpt-4.1-nano", "gpt-4o-mini"} {
		programs := programsOf(t, data, model)
		judged := 0
		for i, ref := range readJSONL[reference](t, filepath.Join(data, "candidates", "mavencoder", "ref_lcb_"+model+".jsonl")) {
			if !*full && i%sampleStep != 0 {
				continue
			}
			report, err := j.Judge(t.Context(), programs[ref.ID], taskOf(problems[ref.ID], judge.Published))
			if err != nil {
				t.Fatalf("%s: %s: %v", model, ref.ID, err)
			}
			judged++
			if pass := report.Verdict == sandbox.AC; pass == ref.Pass {
				continue
			}
			if ref.timedOut() && slow(report) {
				t.Logf("%s: %s: right here, too slow for the official run", model, ref.ID)
				continue
			}
			t.Errorf("%s: %s: got %s, the official runner says passed=%v: %+v", model, ref.ID, report.Verdict, ref.Pass, report.Tests)
		}
		t.Logf("%s: %d programs judged", model, judged)
	}
}

// TestCorrectedByTheOverlay judges, test by test, the programs on problems that
// grant a tolerance or several answers.
func TestCorrectedByTheOverlay(t *testing.T) {
	data := outsideData(t)
	problems, j := loadV1(t, data), openJudge(t)
	programs := map[string]map[string]string{}
	for _, row := range readJSONL[corrected](t, filepath.Join(data, "candidates", "mavencoder", "corrected_verdicts.jsonl")) {
		if programs[row.Model] == nil {
			programs[row.Model] = programsOf(t, data, row.Model)
		}
		if !*full && slices.Contains(row.Tests, "TLE") {
			continue // seconds of work, and a matter of the host
		}
		problem := problems[row.ID]
		if problem.Checker == nil {
			t.Errorf("%s: no checker", row.ID)
		}
		report, err := j.Judge(t.Context(), programs[row.Model][row.ID], taskOf(problem, judge.Strict))
		if err != nil {
			t.Fatalf("%s: %s: %v", row.Model, row.ID, err)
		}
		for i, want := range row.Tests {
			got := report.Tests[i]
			if want == "TLE" && slow(report) {
				continue
			}
			// The corrected verdicts call a syntax error a runtime error.
			if string(got.Verdict) != want && (want != "RE" || got.Verdict != sandbox.CE) {
				t.Errorf("%s: %s: test %d: got %s, want %s: %s", row.Model, row.ID, i+1, got.Verdict, want, got.Detail)
			}
		}
	}
}
