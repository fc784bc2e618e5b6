package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/runtime"
	"github.com/coderl/cr/runtime/chat"
)

const replaySamples = 3

// The embedded engine and a server that replays its tokens give the same
// samples.jsonl and results.json; run.json differs in what names the model.
func TestServerReplaysEngine(t *testing.T) {
	dir := t.TempDir()
	flags := []string{
		"eval", "livecodebench", "--quiet", "--data", "bundled", "--limit", "5", "--n", strconv.Itoa(replaySamples),
		"--concurrency", "1", "--max-tokens", "120", "--model", "tiny",
	}
	engine := append(slices.Clone(flags), "--model", tinyModel(t), "--out", "engine")
	if output, err := crCommand(t, dir, engine...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	server := append(slices.Clone(flags), "--endpoint", replayServer(t)+"/v1", "--out", "server")
	if output, err := crCommand(t, dir, server...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	sameRuns(t, filepath.Join(dir, "engine"), filepath.Join(dir, "server"))

	first, second := settingsOf(t, filepath.Join(dir, "engine")), settingsOf(t, filepath.Join(dir, "server"))
	delete(first, "weights") // a server does not tell
	delete(first, "dtype")
	for name, value := range first {
		if string(second[name]) != string(value) {
			t.Errorf("run.json: %s is %s and %s", name, value, second[name])
		}
	}
	if len(first) != len(second) {
		t.Errorf("run.json has %d and %d settings", len(first), len(second))
	}
}

func settingsOf(t *testing.T, run string) map[string]json.RawMessage {
	t.Helper()
	var manifest struct {
		Settings map[string]json.RawMessage `json:"settings"`
	}
	raw, err := os.ReadFile(filepath.Join(run, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &manifest); err != nil {
		t.Fatal(err)
	}
	return manifest.Settings
}

// replayer serves the tokens that the embedded engine samples in a run of one
// conversation at a time. It keeps no conversation between requests, as a real
// server would not: each is played again from its opening.
type replayer struct {
	endpoint *agent.Embedded
	samples  []string // the keys of their draws, in the order of a run of one at a time

	mu    sync.Mutex
	begun int
}

func replayServer(t *testing.T) string {
	t.Helper()
	engine, err := runtime.Open(t.Context(), tinyModel(t), runtime.Options{MaxBatch: 4, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	endpoint, err := agent.NewEmbedded(engine, false)
	if err != nil {
		t.Fatal(err)
	}
	r := &replayer{endpoint: endpoint}
	set, err := datasets.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range set.Problems {
		for i := range replaySamples {
			r.samples = append(r.samples, p.ID+"/"+strconv.Itoa(i))
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"data": []any{map[string]any{"id": "tiny", "max_model_len": engine.Config().Context}}})
	})
	mux.HandleFunc("POST /v1/chat/completions", r.serve)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func (r *replayer) serve(w http.ResponseWriter, req *http.Request) {
	var a asked
	if err := json.NewDecoder(req.Body).Decode(&a); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.ContainsFunc(a.Messages, func(m askedMessage) bool { return m.Role == "assistant" }) {
		r.begun++
	}
	turn, err := r.play(req.Context(), a, r.samples[r.begun-1])
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	turn.write(w)
}

// play samples the conversation's turns again, gives the tool replies that the
// request holds, and samples the next turn.
func (r *replayer) play(ctx context.Context, a asked, sample string) (answered, error) {
	opening := agent.Opening{Thinking: true, Tools: a.Tools, Sampling: agent.Sampling{
		Temperature: a.Temperature, TopP: a.TopP, RepetitionPenalty: 1, Request: sample,
	}}
	first := slices.IndexFunc(a.Messages, func(m askedMessage) bool { return m.Role == "assistant" })
	if first < 0 {
		first = len(a.Messages)
	}
	for _, m := range a.Messages[:first] {
		opening.Messages = append(opening.Messages, chat.Message{Role: m.Role, Content: m.Content})
	}
	conversation, err := r.endpoint.Start(ctx, opening)
	if err != nil {
		return answered{}, err
	}
	defer conversation.Close()
	length := conversation.PromptTokens()
	for rest := a.Messages[first:]; len(rest) > 0; {
		turn, err := conversation.Next(ctx, unlimited)
		if err != nil {
			return answered{}, err
		}
		if turn.Text != rest[0].Content {
			return answered{}, errors.New("the history is not what was sampled: " + rest[0].Content)
		}
		var replies []chat.Message
		for rest = rest[1:]; len(rest) > 0 && rest[0].Role == "tool"; rest = rest[1:] {
			replies = append(replies, chat.Message{Role: "tool", Content: rest[0].Content, ToolCallID: rest[0].ToolCallID, Name: rest[0].Name})
		}
		glue, err := conversation.Reply(ctx, replies)
		if err != nil {
			return answered{}, err
		}
		length += turn.Tokens + glue
	}
	turn, err := conversation.Next(ctx, cmp.Or(a.MaxTokens, unlimited))
	return answered{text: turn.Text, finish: turn.Finish, prompt: length, completion: turn.Tokens}, err
}

// unlimited is more tokens than any turn of the tiny model has.
const unlimited = 1 << 20
