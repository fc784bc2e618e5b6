package verl_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	neturl "net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// rewardCall is one call of the module's reward, as verl makes it.
type rewardCall struct {
	Function string         `json:"function"`
	Solution string         `json:"solution"`
	Truth    string         `json:"truth"`
	Extra    map[string]any `json:"extra"`
	Settings map[string]any `json:"settings"`
}

// rewardOutcome is what came of it.
type rewardOutcome struct {
	Result  map[string]float64 `json:"result"`
	Failure string             `json:"failure"`
}

// rewards makes calls by a plain Python, one after another.
func rewards(t *testing.T, calls ...rewardCall) []rewardOutcome {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	const program = `
import json, sys
from cr_verl import reward
outcomes = []
for c in json.load(sys.stdin):
    try:
        result = getattr(reward, c["function"])(data_source="apps", solution_str=c["solution"], ground_truth=c["truth"],
            extra_info=c["extra"], reward_router_address=None, **c["settings"])
        outcomes.append({"result": result})
    except Exception as e:
        outcomes.append({"failure": f"{type(e).__name__}: {e}"})
print(json.dumps(outcomes))`
	in, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", program)
	cmd.Env = append(os.Environ(), "PYTHONPATH=python", "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stdin = strings.NewReader(string(in))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	var outcomes []rewardOutcome
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &outcomes); err != nil || len(outcomes) != len(calls) {
		t.Fatalf("%v in %q", err, out)
	}
	return outcomes
}

func TestRewardOfAnswers(t *testing.T) {
	url, _ := sandboxAt(t)
	right := answer("print(sum(map(int, input().split())))")
	wrong := answer("print(3)")
	cases := []struct {
		name, function, solution, truth string
		extra, settings                 map[string]any
		want                            map[string]float64
	}{
		{"right", "compute_score", right, sums, nil, nil, map[string]float64{"score": 1, "acc": 1, "passed": 4, "tests": 4}},
		{"half", "compute_score", wrong, sums, nil, nil, map[string]float64{"score": 0.5, "acc": 0, "passed": 2}},
		{"half, strict", "compute_score", wrong, sums, nil, map[string]any{"score": "strict"}, map[string]float64{"score": 0, "passed": 2}},
		{"first of two", "compute_score", wrong + right, sums, nil, nil, map[string]float64{"score": 0.5}},
		{"last of two", "compute_score", wrong + right, sums, nil, map[string]any{"extract": "last"}, map[string]float64{"score": 1}},
		{"thought only", "compute_score", "<think>" + right + "</think>", sums, nil, nil, map[string]float64{"score": 0, "no_code": 1}},
		{"crash", "compute_score", answer("import os\nos._exit(0)"), sums, nil, nil, map[string]float64{"score": 0, "passed": 0, "tests": 4}},
		{"endless", "compute_score", answer("while True: pass"), sums, nil, map[string]any{"timeout": 1}, map[string]float64{"score": 0, "infra_error": 0}},
		{"bonus", "compute_reward", wrong, sums, map[string]any{"tool_call_count": 9}, nil, map[string]float64{"score": 0.52, "code_score": 0.5, "tool_bonus": 0.02, "tool_calls": 9}},
		{"bonus of rewards", "compute_reward", right, sums, map[string]any{"tool_rewards": []float64{0, 0}}, nil, map[string]float64{"score": 1.01}},
		{
			"function", "compute_score", answer("def f(a, b):\n    return a * b"),
			`{"input": [[2, 3], [4, 5]], "output": [[6], [21]], "fn_name": "f"}`, nil, nil,
			map[string]float64{"score": 0.5, "tests": 2},
		},
	}
	calls := make([]rewardCall, len(cases))
	for i, c := range cases {
		settings := map[string]any{"sandbox_url": url}
		maps.Copy(settings, c.settings)
		calls[i] = rewardCall{c.function, c.solution, c.truth, c.extra, settings}
	}
	for i, got := range rewards(t, calls...) {
		for key, want := range cases[i].want {
			if diff := got.Result[key] - want; got.Failure != "" || diff > 1e-12 || diff < -1e-12 {
				t.Errorf("%s: %s = %v, want %v (%s)", cases[i].name, key, got.Result[key], want, got.Failure)
			}
		}
	}
}

// The tests of LiveCodeBench, as its packing makes them; a pickle that names
// anything is refused.
func TestPackedTests(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "python3", "-c", `
import base64, json, os, pickle, sys, zlib
pack = lambda x: base64.b64encode(zlib.compress(pickle.dumps(x))).decode()
print(pack(json.dumps({"input": ["1"], "output": ["1"]})))
print(pack(os.system))`).Output()
	if err != nil {
		t.Skip("no python3")
	}
	packed := strings.Fields(string(out))
	url, _ := sandboxAt(t)
	settings := map[string]any{"sandbox_url": url}
	got := rewards(t,
		rewardCall{"compute_score", answer("print(input())"), packed[0], nil, settings},
		rewardCall{"compute_score", answer("print(input())"), packed[1], nil, settings})
	if got[0].Result["score"] != 1 {
		t.Errorf("packed: %+v", got[0])
	}
	if !strings.Contains(got[1].Failure, "where only text belongs") {
		t.Errorf("a pickle with a function: %+v", got[1])
	}
}

// A sandbox in trouble is waited for, as long as it asks, and never scored.
func TestSandboxInTrouble(t *testing.T) {
	url, _ := sandboxAt(t)
	target, err := neturl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	var asked atomic.Int64
	statuses := []int{429, 503, 500, 502}
	flaky := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(asked.Add(1)) - 1
		if n < len(statuses) {
			w.Header().Set("Retry-After", "0")
			http.Error(w, "busy", statuses[n])
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer flaky.Close()
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		http.Error(w, "gone", http.StatusServiceUnavailable)
	}))
	defer slow.Close()

	right := answer("print(sum(map(int, input().split())))")
	away := map[string]any{"sandbox_url": slow.URL, "max_wait": 1}
	scored := map[string]any{"sandbox_url": slow.URL, "max_wait": 1, "infra": "zero"}
	got := rewards(t,
		rewardCall{"compute_score", right, sums, nil, map[string]any{"sandbox_url": flaky.URL}},
		rewardCall{"compute_score", right, sums, nil, away},
		rewardCall{"compute_reward", right, sums, map[string]any{"tool_call_count": 3}, scored},
		rewardCall{"compute_score", right, sums, map[string]any{"tool_rewards": []float64{0, -1}}, map[string]any{"sandbox_url": url}},
		rewardCall{"compute_score", right, sums, nil, map[string]any{"sandbox_urll": url}})
	if got[0].Result["score"] != 1 || asked.Load() != 5 {
		t.Errorf("after four refusals: %+v, asked %d times", got[0], asked.Load())
	}
	if !strings.Contains(got[1].Failure, "Unjudged: apps : ") || !strings.Contains(got[1].Failure, "HTTP 503 gone") {
		t.Errorf("away: %+v", got[1])
	}
	if r := got[2].Result; r["infra_error"] != 1 || r["score"] != 0 {
		t.Errorf("away, scored 0: %+v", got[2])
	}
	if !strings.Contains(got[3].Failure, "a tool call of the answer never ran") {
		t.Errorf("a call that never ran: %+v", got[3])
	}
	if !strings.Contains(got[4].Failure, "sandbox_urll") {
		t.Errorf("a wrong setting: %+v", got[4])
	}
}

// An answer that is no verdict is never a score and never a crash of its own,
// whatever a proxy or a broken service makes of it.
func TestNoVerdict(t *testing.T) {
	answers := map[string]string{
		"html": "<html>log in</html>", "empty": "{}", "list": "[1, 2]", "null": "null", "text": `{"tests": "xx"}`,
		"nulls": `{"tests": [null, null, null, null]}`, "fewer": `{"tests": [{"passed": true}]}`,
		"no bool": `{"tests": [{"passed": "false"}, {"passed": 1}, {"passed": true}, {"passed": true}]}`,
	}
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.Split(r.URL.Path, "/")[1]
		switch name {
		case "short":
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"tests": [`))
		case "endless":
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte(" "))
				w.(http.Flusher).Flush()
				time.Sleep(20 * time.Millisecond)
			}
		default:
			_, _ = w.Write([]byte(answers[strings.ReplaceAll(name, "_", " ")]))
		}
	}))
	defer broken.Close()
	right := answer("print(sum(map(int, input().split())))")
	var names []string
	var calls []rewardCall
	for _, name := range append(slices.Sorted(maps.Keys(answers)), "short", "endless") {
		url := broken.URL + "/" + strings.ReplaceAll(name, " ", "_")
		for _, infra := range []string{"stop", "zero"} {
			names = append(names, name)
			calls = append(calls, rewardCall{
				"compute_reward", right, sums,
				map[string]any{"tool_call_count": 3},
				map[string]any{"sandbox_url": url, "max_wait": 0.2, "total_timeout": 0.2, "infra": infra},
			})
		}
	}
	for i, got := range rewards(t, calls...) {
		if stops := calls[i].Settings["infra"] == "stop"; stops && !strings.HasPrefix(got.Failure, "Unjudged: apps") {
			t.Errorf("%s: %+v", names[i], got)
		} else if !stops && (got.Failure != "" || got.Result["infra_error"] != 1 || got.Result["score"] != 0) {
			t.Errorf("%s, scored 0: %+v", names[i], got)
		}
	}
}

// A setting that no answer could be judged with is told at once, not after the
// patience for a service that is away.
func TestWrongSettingsOfTheModule(t *testing.T) {
	for want, settings := range map[string]map[string]any{
		"want an address like http://localhost:8080":        {"sandbox_url": "localhost:8080"},
		"want an address like http://localhost:8080 ":       {"sandbox_url": "http://"},
		"ASCII letters, digits and signs on one line":       {"sandbox_token": "a\nb"},
		"ASCII letters, digits and signs on one line (two)": {"sandbox_token": "s\u00e9cret"},
		"infra='drop': want one of stop, zero":              {"infra": "drop"},
	} {
		got := rewards(t, rewardCall{"compute_score", answer("print(1)"), sums, nil, settings})[0]
		want, _, _ = strings.Cut(want, " (")
		if !strings.HasPrefix(got.Failure, "ValueError: ") || !strings.Contains(got.Failure, strings.TrimSpace(want)) {
			t.Errorf("%v: %+v", settings, got)
		}
	}
}
