package judge_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// dataFile opens a file of outside data, or skips.
func dataFile(t testing.TB, name string) io.Reader {
	t.Helper()
	data := os.Getenv("CR_TEST_DATA")
	if data == "" {
		t.Skip("CR_TEST_DATA is not set: HumanEval and MBPP are outside data")
	}
	f, err := os.Open(filepath.Join(data, name))
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if !strings.HasSuffix(name, ".gz") {
		return f
	}
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// readLines decodes JSON lines.
func readLines[T any](t testing.TB, name string) (rows []T) {
	t.Helper()
	lines := bufio.NewScanner(dataFile(t, name))
	lines.Buffer(nil, 64<<20)
	finite := strings.NewReplacer("-Infinity", "0", "Infinity", "0", "NaN", "0") // inputs, not needed here
	for lines.Scan() {
		var row T
		if err := json.Unmarshal([]byte(finite.Replace(lines.Text())), &row); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rows = append(rows, row)
	}
	return rows
}

// problem is one of HumanEval or MBPP with its reference solution.
type problem struct {
	id, solution string
	assert       judge.Assert
}

func humanEval(t testing.TB) (problems []problem) {
	for _, row := range readLines[struct {
		ID       string `json:"task_id"`
		Prompt   string
		Entry    string `json:"entry_point"`
		Solution string `json:"canonical_solution"`
		Test     string
	}](t, "humaneval/HumanEval.jsonl.gz") {
		problems = append(problems, problem{
			row.ID, row.Prompt + row.Solution,
			judge.Assert{Tests: row.Test, Entry: row.Entry, Setup: row.Prompt},
		})
	}
	return problems
}

type mbppRow struct {
	ID        int `json:"task_id"`
	Code      string
	Setup     string   `json:"test_setup_code"`
	Imports   []string `json:"test_imports"`
	Tests     []string `json:"test_list"`
	Challenge []string `json:"challenge_test_list"`
}

func (r mbppRow) problem() problem {
	parts := append(append([]string{r.Setup}, r.Imports...), r.Tests...)
	return problem{fmt.Sprintf("Mbpp/%d", r.ID), r.Code, judge.Assert{Tests: strings.Join(append(parts, r.Challenge...), "\n")}}
}

func mbpp(t testing.TB) (problems []problem) {
	for _, row := range readLines[mbppRow](t, "mbpp/mbpp.jsonl") {
		problems = append(problems, row.problem())
	}
	return problems
}

func sanitizedMBPP(t testing.TB) (problems []problem) {
	var rows []mbppRow
	if err := json.NewDecoder(dataFile(t, "mbpp/sanitized-mbpp.json")).Decode(&rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		problems = append(problems, row.problem())
	}
	return problems
}

// judgeEach judges programs on problems, several at a time, in order.
func judgeEach(t testing.TB, j *judge.Judge, codes []string, asserts []judge.Assert) []judge.Report {
	t.Helper()
	reports := make([]judge.Report, len(codes))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i := range codes {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			var err error
			reports[i], err = j.Judge(t.Context(), codes[i], judge.Task{Plain: true, Assert: &asserts[i]})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return reports
}

// TestCanonicalSolutionsPass: the published solutions satisfy the published
// tests, in two processes wherever the tests pass data.
func TestCanonicalSolutionsPass(t *testing.T) {
	for name, load := range map[string]func(testing.TB) []problem{
		"HumanEval": humanEval, "MBPP": mbpp, "sanitized MBPP": sanitizedMBPP,
	} {
		t.Run(name, func(t *testing.T) {
			problems := load(t)
			j := judge.New(openSandbox(t))
			codes, asserts := make([]string, len(problems)), make([]judge.Assert, len(problems))
			for i, p := range problems {
				codes[i], asserts[i] = p.solution, p.assert
			}
			for i, report := range judgeEach(t, j, codes, asserts) {
				if report.Verdict != sandbox.AC || report.Tests[0].Together {
					t.Errorf("%s: %s %s", problems[i].id, report.Verdict, report.Tests[0].Detail)
				}
			}
		})
	}
}

// evalplusRow is a program with evalplus's verdict on the base tests.
type evalplusRow struct {
	ID       string `json:"task_id"`
	Solution string
	Base     string // pass or fail; in files of verdicts alone
}

// evalplusRuns are the sets of candidates: programs, and verdicts by problem.
func evalplusRuns(t *testing.T, set string) (programs []evalplusRow, pass map[string]bool) {
	t.Helper()
	pass = map[string]bool{}
	if model, found := strings.CutPrefix(set, "mavencoder/"); found {
		for _, row := range readLines[evalplusRow](t, "candidates/mavencoder/evalplus_"+model+".jsonl") {
			pass[row.ID] = row.Base == "pass"
		}
		return readLines[evalplusRow](t, "candidates/mavencoder/"+model+".jsonl"), pass
	}
	var results struct {
		Eval map[string][]struct {
			Solution string
			Base     string `json:"base_status"`
		}
	}
	if err := json.NewDecoder(dataFile(t, "candidates/qwen2.5-coder/"+set+"/generated_eval_results.json")).Decode(&results); err != nil {
		t.Fatal(err)
	}
	for id, runs := range results.Eval {
		programs = append(programs, evalplusRow{ID: id, Solution: runs[0].Solution})
		pass[id] = runs[0].Base == "pass"
	}
	return programs, pass
}

// mbppPlusAsserts are the base tests of MBPP+ as asserts.
func mbppPlusAsserts(t *testing.T) map[string]judge.Assert {
	t.Helper()
	out := map[string]judge.Assert{}
	for _, row := range readLines[struct {
		ID        string `json:"task_id"`
		Entry     string `json:"entry_point"`
		Assertion string
	}](t, "mbppplus/MbppPlus-v0.2.0.jsonl") {
		out[row.ID] = judge.Assert{Tests: row.Assertion, Entry: row.Entry}
	}
	return out
}

// evalplusDiffers are the problems on which the two must part: evalplus does not
// run the asserts but compares with its reference solution on its own inputs.
var evalplusDiffers = map[string]string{
	"HumanEval/75":  "its base inputs leave out most of the asserts, 125 among them",
	"HumanEval/95":  "its inputs write the key 5 of the asserts as '5'",
	"HumanEval/129": "an exponential search: in time by our limit, not by its own",
	"Mbpp/87":       "its reference prefers another dictionary where keys meet",
	"Mbpp/769":      "its reference keeps an order that the assert does not",
	"Mbpp/123":      "a slow program: in time by our limit, not by its own",
	"Mbpp/232":      "the assert compares sets, evalplus lists",
}

// TestVerdictsAgreeWithEvalplus: evalplus ran the same programs on the same
// problems' base inputs, comparing values with the reference solution's.
func TestVerdictsAgreeWithEvalplus(t *testing.T) {
	for _, set := range []string{
		"mavencoder/humanevalplus_gpt-4o-mini", "mavencoder/humanevalplus_gpt-4.1-nano", "1.5b-base/humaneval",
		"mavencoder/mbppplus_gpt-4o-mini", "mavencoder/mbppplus_gpt-4.1-nano", "1.5b-base/mbpp",
	} {
		t.Run(strings.ReplaceAll(set, "/", " "), func(t *testing.T) {
			programs, pass := evalplusRuns(t, set)
			problems := map[string]judge.Assert{}
			if strings.Contains(set, "humaneval") {
				for _, p := range humanEval(t) {
					problems[p.id] = p.assert
				}
			} else {
				problems = mbppPlusAsserts(t)
			}
			var codes, ids []string
			var asserts []judge.Assert
			for _, p := range programs {
				if a, known := problems[p.ID]; known {
					codes, ids, asserts = append(codes, p.Solution), append(ids, p.ID), append(asserts, a)
				}
			}
			j := judge.New(openSandbox(t))
			for i, report := range judgeEach(t, j, codes, asserts) {
				if got := report.Verdict == sandbox.AC; got != pass[ids[i]] && evalplusDiffers[ids[i]] == "" {
					t.Errorf("%s: %s %s, evalplus says pass = %v", ids[i], report.Verdict, report.Tests[0].Detail, pass[ids[i]])
				}
			}
		})
	}
}
