package service

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// humanEval reads HumanEval as tasks for its own solutions.
func humanEval(t testing.TB) []AssertTask {
	t.Helper()
	dir := os.Getenv("CR_TEST_DATA")
	if dir == "" {
		t.Skip("CR_TEST_DATA is not set: no HumanEval to read")
	}
	f, err := os.Open(filepath.Join(dir, "humaneval", "HumanEval.jsonl.gz"))
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	lines, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var tasks []AssertTask
	for rows := json.NewDecoder(lines); ; {
		var row struct {
			Prompt   string
			Solution string `json:"canonical_solution"`
			Test     string
			Entry    string `json:"entry_point"`
		}
		if err := rows.Decode(&row); errors.Is(err, io.EOF) {
			return tasks
		} else if err != nil {
			t.Fatal(err)
		}
		tasks = append(tasks, AssertTask{Language: "python", Code: row.Prompt + row.Solution, Test: row.Test, EntryPoint: row.Entry})
	}
}

// asserts is a judge in a jail of its own.
func asserts(t testing.TB) Asserts {
	t.Helper()
	exec, err := sandbox.NewLocal(sandbox.LocalOptions{Workers: 2, CacheDir: t.TempDir()})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = exec.Close() }) // nothing is left to tell
	return Asserts{Judge: judge.New(exec), Exec: exec}
}

// TestHumanEvalsSolutionsPass, on any interpreter: what ScaleBox imports for
// programs is absent from many.
func TestHumanEvalsSolutionsPass(t *testing.T) {
	judge := asserts(t)
	for _, task := range humanEval(t) {
		got, err := judge.JudgeAssert(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		if got.Verdict != sandbox.AC {
			t.Errorf("%s: %s %s\n%.500s", task.EntryPoint, got.Verdict, got.Detail, got.Run.Stderr)
		}
	}
}

func TestImportsForPrograms(t *testing.T) {
	for code, want := range map[string]bool{
		"def f(input): return input": false, "np = 3": true, "import numpy": true, "numpys = 1": false,
	} {
		if got := strings.Contains(importsFor(code), "numpy"); got != want {
			t.Errorf("%s: numpy imported: %v, want %v", code, got, want)
		}
	}
}

// BenchmarkHumanEval is the throughput of HumanEval's own solutions, two
// clients asking.
func BenchmarkHumanEval(b *testing.B) {
	tasks, judge := humanEval(b), asserts(b)
	var next atomic.Int64
	var clients sync.WaitGroup
	b.ResetTimer()
	for range 2 {
		clients.Go(func() {
			for i := int(next.Add(1)) - 1; i < b.N; i = int(next.Add(1)) - 1 {
				got, err := judge.JudgeAssert(b.Context(), tasks[i%len(tasks)])
				if err != nil || got.Verdict != sandbox.AC {
					b.Errorf("%s: %s %v", tasks[i%len(tasks)].EntryPoint, got.Verdict, err)
				}
			}
		})
	}
	clients.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "problems/s")
}
