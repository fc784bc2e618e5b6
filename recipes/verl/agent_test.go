package verl_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coderl/cr/recipes/verl"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
	"github.com/coderl/cr/sandbox/service"
)

func TestMain(m *testing.M) {
	sandbox.MaybeRunStub()
	os.Exit(m.Run())
}

// sandboxAt serves a real jail by cr's service, and says how often it was asked.
func sandboxAt(t *testing.T) (url string, asked *atomic.Int64) {
	t.Helper()
	executor, err := sandbox.NewLocal(sandbox.LocalOptions{Workers: 2})
	if errors.Is(err, sandbox.ErrNoIsolation) {
		t.Skipf("this host cannot isolate programs: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := executor.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	handler := service.New(executor, service.Config{
		Workers: 2, Assert: service.Asserts{Judge: judge.New(executor), Exec: executor},
	}).Handler()
	asked = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

// sums is a problem: print the sum of the numbers of a line.
const sums = `{"input": ["1 2\n", "3\n", "4 5 6\n", "0 0\n"], "output": ["3\n", "3\n", "15\n", "0\n"], "fn_name": null, "type": "stdin_stdout"}`

type agentCase struct {
	Prompt      string   `json:"prompt"`
	GroundTruth string   `json:"ground_truth"`
	Turns       []string `json:"turns"`
}

type agentResult struct {
	Text, Unmasked, Masked string
	NumTurns               int `json:"num_turns"`
	Error                  string
	Reward                 struct {
		Score float64            `json:"reward_score"`
		Extra map[string]float64 `json:"reward_extra_info"`
	}
}

func call(arguments string) string {
	return "<think>\nTry it.\n</think>\n\n<tool_call>\n{\"name\": \"code_interpreter\", \"arguments\": " + arguments + "}\n</tool_call>"
}

func answer(code string) string { return "So:\n```python\n" + code + "\n```\n" }

// runLoop lets a verl run episodes of its own agent loop in a written bundle.
func runLoop(t *testing.T, python, version string, cases []agentCase, settings ...string) []agentResult {
	t.Helper()
	tokenizer := os.Getenv("CR_TEST_TOKENIZER")
	if tokenizer == "" {
		t.Skip("set CR_TEST_TOKENIZER to a folder with Qwen3's tokenizer.json and tokenizer_config.json")
	}
	plan, err := verl.RL(loadRL(t, "code-rl", settings...), verl.Options{Version: version})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := plan.Write(dir); err != nil {
		t.Fatal(err)
	}
	composed, err := plan.Compose(t.Context(), python)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"composed.yaml": composed, "cases.json": text} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program, err := filepath.Abs("testdata/agent_loop.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), python, program, "composed.yaml", tokenizer, "cases.json", "results.json")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PYTHONPATH="+dir, "CUDA_VISIBLE_DEVICES=", "OMP_NUM_THREADS=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("agent loop of verl %s: %v\n%s", version, err, out)
	}
	var results []agentResult
	data, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &results); err != nil {
		t.Fatal(err)
	}
	return results
}

// verl's own loop calls our tool, masks its replies, and its reward manager scores
// the whole by our function, on every version that is there.
func TestAgentLoopOfVerl(t *testing.T) {
	found := pythons(t)
	url, _ := sandboxAt(t)
	right := answer("print(sum(map(int, input().split())))")
	cases := []agentCase{
		{"Add.", sums, []string{call(`{"code": "print(1 + 2)"}`), right}},
		{"Add.", sums, []string{call(`{"code": "import sys; sys.exit(3)", "timeout": 5}`), call(`{"code": 7}`), answer("print(3)")}},
		{"Add.", sums, []string{"No idea."}},
		{"Add.", sums, nil},
		{"Add.", `{"input": []}`, []string{right}},
	}
	for version, python := range found {
		t.Run(version, func(t *testing.T) {
			results := runLoop(t, python, version, cases, "reward.sandbox="+url, "reward.bonus=0.005", "reward.max_calls=1")
			first := results[0]
			if first.Reward.Score != 1.005 || first.Reward.Extra["code_score"] != 1 || first.Reward.Extra["tool_calls"] != 1 {
				t.Errorf("right answer: %s %+v", first.Error, first.Reward)
			}
			if !strings.Contains(first.Masked, "stdout:\n3\nexit status: 0") || strings.Contains(first.Unmasked, "stdout") {
				t.Errorf("masked %q, trained %q", first.Masked, first.Unmasked)
			}
			if !strings.Contains(first.Unmasked, "<tool_call>") || !strings.Contains(first.Unmasked, "print(sum(") {
				t.Errorf("trained %q", first.Unmasked)
			}
			second := results[1]
			if second.Reward.Extra["passed"] != 2 || second.Reward.Score != 0.505 || second.Reward.Extra["tool_calls"] != 2 {
				t.Errorf("half an answer: %s %+v", second.Error, second.Reward)
			}
			if !strings.Contains(second.Masked, "exit status: 3") || !strings.Contains(second.Masked, `argument "code" must be a string`) {
				t.Errorf("replies %q", second.Masked)
			}
			for _, r := range results[2:4] {
				if r.Reward.Extra["no_code"] != 1 || r.Reward.Score != 0 || r.Error != "" {
					t.Errorf("no answer: %s %+v", r.Error, r.Reward)
				}
			}
			if r := results[4]; !strings.HasPrefix(r.Error, "Unjudged: apps") {
				t.Errorf("no tests: %q, %+v", r.Error, r.Reward)
			}
		})
	}
}
