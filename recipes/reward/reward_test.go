package reward

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

const fence = "```"

// fixedJudge passes so many of a task's four tests.
type fixedJudge struct{ passed int }

func (f fixedJudge) Judge(_ context.Context, code string, task judge.Task) (judge.Report, error) {
	r := judge.Report{Verdict: sandbox.AC}
	for i := range 4 {
		verdict := sandbox.AC
		if i >= f.passed {
			verdict, r.Verdict = sandbox.WA, sandbox.WA
		}
		r.Tests = append(r.Tests, judge.TestResult{Verdict: verdict})
	}
	if strings.Contains(code, "broken judge") {
		return judge.Report{}, errors.New("the sandbox is away")
	}
	return r, nil
}

func answerOf(text string, calls int, finish agent.Finish) Answer {
	return Answer{
		Problem: datasets.Problem{ID: "p1", Platform: "apps", Tests: []judge.Test{{Input: "1\n", Output: "2"}}},
		Episode: agent.Episode{
			Messages: []chat.Message{{Role: "user", Content: "q"}, {Role: "assistant", Content: text}},
			Turns:    []agent.Turn{{Text: text}}, ToolCalls: calls, Finish: finish,
		},
	}
}

func recipe(t *testing.T, settings ...string) preset.Reward {
	t.Helper()
	r, err := preset.LoadRL("code-rl", settings)
	if err != nil {
		t.Fatal(err)
	}
	return r.Reward
}

// Scores of the published compute_score and compute_reward: the share of tests,
// and min(calls, 4)·0.005 more whether the answer is right or not.
func TestScores(t *testing.T) {
	program := fence + "python\nprint(1)\n" + fence
	bonus := []string{"reward.bonus=0.005", "reward.max_calls=4"}
	for _, c := range []struct {
		name     string
		settings []string
		passed   int
		answer   Answer
		reward   float64
		verdict  sandbox.Verdict
	}{
		{"share", nil, 3, answerOf(program, 2, agent.FinishStop), 0.75, sandbox.WA},
		{"all", nil, 4, answerOf(program, 0, agent.FinishStop), 1, sandbox.AC},
		{"strict", []string{"reward.score=strict"}, 3, answerOf(program, 0, agent.FinishStop), 0, sandbox.WA},
		{"bonus", bonus, 4, answerOf(program, 3, agent.FinishStop), 1.015, sandbox.AC},
		{"bonus has a cap", bonus, 0, answerOf(program, 9, agent.FinishStop), 0.02, sandbox.WA},
		{"bonus without a program", bonus, 4, answerOf("I do not know", 1, agent.FinishStop), 0.005, sandbox.NoCode},
		{"format", []string{"reward.format=0.1"}, 0, answerOf(program, 0, agent.FinishStop), 0.1, sandbox.WA},
		{"no program", []string{"reward.format=0.1"}, 4, answerOf("hm", 0, agent.FinishStop), 0, sandbox.NoCode},
		{"truncated", nil, 4, answerOf("hm", 0, agent.FinishLength), 0, sandbox.Truncated},
	} {
		score, err := New(recipe(t, c.settings...), fixedJudge{c.passed}, Patience{}).Score(t.Context(), c.answer)
		if err != nil || score.Reward-c.reward > 1e-12 || c.reward-score.Reward > 1e-12 || score.Verdict != c.verdict {
			t.Errorf("%s: %+v, %v; want %v, %s", c.name, score, err, c.reward, c.verdict)
		}
		if want := c.answer.Episode.Finish == agent.FinishLength; score.Cut != want {
			t.Errorf("%s: cut %v", c.name, score.Cut)
		}
	}
	_, err := New(recipe(t), fixedJudge{}, Patience{}).Score(t.Context(), answerOf(fence+"python\n# broken judge\n"+fence, 0, agent.FinishStop))
	if err == nil {
		t.Error("a judge that is away gives a score")
	}
}

// script writes an executable.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "reward.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// An executable gets the request on stdin and answers on stdout.
func TestOwnProgram(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "request.json")
	path := script(t, "cat > "+saved+"\n"+`echo '{"score": 0.25, "metrics": {"style": 3}}'`)
	score, err := New(recipe(t, "reward.own="+path, "reward.bonus=0.5"), nil, Patience{}).Score(t.Context(), answerOf(fence+"python\nx\n"+fence, 1, agent.FinishStop))
	if err != nil || score.Reward != 0.75 || score.Code != 0.25 || score.Metrics["style"] != 3 {
		t.Fatalf("%+v, %v", score, err)
	}
	text, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	var request map[string]any
	if err := json.Unmarshal(text, &request); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"version": 1.0, "question_id": "p1", "data_source": "apps", "code": "x", "finish_reason": "stop", "turns": 1.0, "tool_calls": 1.0,
	} {
		if request[key] != want {
			t.Errorf("%s is %v, want %v", key, request[key], want)
		}
	}
	if tests, ok := request["tests"].([]any); !ok || len(tests) != 1 {
		t.Errorf("tests are %v", request["tests"])
	}
}

// What breaks the protocol is said at once; what may pass is tried again.
func TestOwnFailures(t *testing.T) {
	once := filepath.Join(t.TempDir(), "once")
	for name, c := range map[string]struct {
		body   string
		broken bool
		says   string
	}{
		"no JSON":    {"echo hello", true, "not a JSON object"},
		"no score":   {"echo '{}'", true, "no score"},
		"fails":      {"echo boom >&2; exit 3", true, "boom"},
		"too long":   {"yes | head -c 3000000", true, "more than"},
		"try again":  {"test -e " + once + " || { touch " + once + "; exit 75; }; echo '{\"score\": 1}'", false, ""},
		"stays away": {"echo away >&2; exit 75", false, "away"},
		"NaN":        {"echo '{\"score\": NaN}'", true, "NaN"},
		"infinite":   {"echo '{\"score\": 1e999}'", true, "1e999"},
		"huge":       {"echo '{\"score\": 1e7}'", true, "beyond"},
		"a text":     {"echo '{\"score\": \"1\"}'", true, "not a JSON object"},
		"a list":     {"echo '[1]'", true, "not a JSON object"},
		"two":        {"echo '{\"score\": 1} {\"score\": 1}'", true, "not a JSON object"},
		"null":       {"echo '{\"score\": 1, \"metrics\": {\"style\": null}}'", true, "style is null"},
		"odd metric": {"echo '{\"score\": 1, \"metrics\": {\"a - b:1\": 2}}'", true, "a - b:1"},
		"nothing":    {"", true, "not a JSON object"},

		"crashes once":     {"test -e " + once + "2 || { touch " + once + "2; kill -SEGV $$; }; echo '{\"score\": 1}'", false, ""},
		"crashes":          {"echo oh >&2; kill -SEGV $$", false, "segmentation fault"},
		"its child":        {"exit 137", false, "crashed"},
		"leaves a child":   {"sleep 30 & echo '{\"score\": 1}'", false, ""},
		"reads no request": {"exec <&-; echo '{\"score\": 1}'", false, ""},
	} {
		p := Patience{Wait: time.Minute, Step: time.Millisecond}
		if name == "stays away" {
			p.Wait = 5 * time.Millisecond
		}
		score, err := New(recipe(t, "reward.own="+script(t, c.body)), nil, p).Score(t.Context(), answerOf("", 0, agent.FinishStop))
		switch {
		case c.says == "" && (err != nil || score.Reward != 1):
			t.Errorf("%s: %+v, %v", name, score, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, ErrBroken) != c.broken):
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(recipe(t, "reward.own=/no/such/reward"), nil, Patience{Wait: time.Minute}).Score(t.Context(), answerOf("", 0, "")); !errors.Is(err, ErrBroken) {
		t.Errorf("a program that is not there: %v", err)
	}
}

// A service's 503 is waited out, its 404 is not.
func TestOwnService(t *testing.T) {
	status := []int{503, 429, 200}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status[0])
		status = status[1:]
		fmt.Fprint(w, `{"score": 0.5}`)
	}))
	defer s.Close()
	var notes []string
	p := NewPatience(time.Minute, func(line string) { notes = append(notes, line) })
	p.Step = time.Millisecond
	score, err := New(recipe(t, "reward.own="+s.URL), nil, p).Score(t.Context(), answerOf("", 0, ""))
	if err != nil || score.Reward != 0.5 {
		t.Fatalf("%+v, %v", score, err)
	}
	if len(notes) != 2 || !strings.Contains(notes[0], "503") || !strings.Contains(notes[1], "again") {
		t.Errorf("notes %q", notes)
	}
	status = []int{404}
	if _, err := New(recipe(t, "reward.own="+s.URL), nil, p).Score(t.Context(), answerOf("", 0, "")); !errors.Is(err, ErrBroken) {
		t.Errorf("404: %v", err)
	}
}

func FuzzReply(f *testing.F) {
	f.Add([]byte(`{"score": 1, "metrics": {"a": 2}}`))
	f.Add([]byte(`{"score": null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := parseReply(text); err == nil && r.Score == nil {
			t.Errorf("%q has no score, and no error", text)
		}
	})
}
