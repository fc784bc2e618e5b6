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
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
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
