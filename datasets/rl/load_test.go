package rl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coderl/cr/sandbox/judge"
)

func linesFile(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "train.jsonl")
	if err := os.WriteFile(path, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Problems as verl reads them: programs on stdin, calls in ScaleBox's forms.
func TestLoad(t *testing.T) {
	stdin := `{"prompt": [{"role": "user", "content": "sum"}], "data_source": "taco", "reward_model": {"style": "rule", "ground_truth": "{\"input\": [\"1 2\\n\", \"3\"], \"output\": [\"3\", \"4\"], \"fn_name\": null, \"type\": \"stdin_stdout\"}"}}`
	calls := `{"prompt": [{"role": "user", "content": "f"}], "data_source": "apps", "reward_model": {"ground_truth": {"input": [[[1, 2], "a"], "5\n[6]"], "output": [[3], "7"], "fn_name": "f", "type": "function_call"}}}`
	path := linesFile(t, stdin+"\n"+calls+"\n")
	set, err := Load(t.Context(), []string{path})
	if err != nil {
		t.Fatal(err)
	}
	if set.Name != "train.jsonl" || len(set.Problems) != 2 || set.SHA256 == "" {
		t.Fatalf("set %q with %d problems", set.Name, len(set.Problems))
	}
	a, b := set.Problems[0], set.Problems[1]
	if a.ID >= b.ID || a.Platform != "taco" || a.Functional() || a.Opening[0].Content != "sum" || !a.Loose {
		t.Errorf("first problem %+v", a)
	}
	if a.Tests[0] != (judge.Test{Input: "1 2\n", Output: "3"}) || a.Tests[1] != (judge.Test{Input: "3", Output: "4"}) {
		t.Errorf("tests %+v", a.Tests)
	}
	if b.Method != "f" || b.Tests[0] != (judge.Test{Input: "[1,2]\n\"a\"", Output: "3"}) || b.Tests[1] != (judge.Test{Input: "5\n[6]", Output: "7"}) {
		t.Errorf("second problem %+v", b)
	}
}

// A row that is no problem is named, with what is wrong.
func TestLoadNamesBadRows(t *testing.T) {
	for line, says := range map[string]string{
		`{"prompt": [], "reward_model": {"ground_truth": "{}"}}`:                                                                                       "prompt",
		`{"prompt": [{"role": "user", "content": "x"}]}`:                                                                                               "reward_model",
		`{"prompt": [{"role": "user", "content": "x"}], "reward_model": {"ground_truth": "no"}}`:                                                       "not JSON",
		`{"prompt": [{"role": "user", "content": "x"}], "reward_model": {"ground_truth": {"input": ["1"], "output": []}}}`:                             "1 inputs but 0 outputs",
		`{"prompt": [{"role": "user", "content": "x"}], "reward_model": {"ground_truth": {"input": [], "output": []}}}`:                                "0 tests",
		`{"prompt": [{"role": "user", "content": "x"}], "reward_model": {"ground_truth": {"input": [[1]], "output": [[1]], "type": "function_call"}}}`: "fn_name",
	} {
		path := linesFile(t, line+"\n")
		if _, err := Load(t.Context(), []string{path}); err == nil || !strings.Contains(err.Error(), "line 1") || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want line 1 and %q", line, err, says)
		}
	}
}

func FuzzTruth(f *testing.F) {
	f.Add([]byte(`{"input": ["1"], "output": ["2"], "type": "stdin_stdout"}`))
	f.Add([]byte(`"{\"input\": [[1]], \"output\": [[2]], \"fn_name\": \"f\"}"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		method, tests, err := parseTruth(raw)
		if err == nil && (len(tests) == 0 || len(tests) > maxTests) {
			t.Errorf("%q: %d tests of %q", raw, len(tests), method)
		}
	})
}
