package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/coderl/cr/runtime/chat"
)

// asked is what the stub servers read of a request.
type asked struct {
	Messages    []askedMessage `json:"messages"`
	Tools       []chat.Tool    `json:"tools"`
	MaxTokens   int            `json:"max_tokens"`
	Temperature float64        `json:"temperature"`
	TopP        float64        `json:"top_p"`
}

type askedMessage struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCallID string `json:"tool_call_id"`
	Name       string `json:"name"`
	ToolCalls  []any  `json:"tool_calls"`
}

// answered is a stub server's turn.
type answered struct {
	text       string
	native     string // code for a native tool call
	finish     string
	prompt     int
	completion int
}

func (a answered) write(w http.ResponseWriter) {
	message := map[string]any{"role": "assistant", "content": a.text}
	if a.native != "" {
		arguments, _ := json.Marshal(map[string]string{"code": a.native})
		message["tool_calls"] = []any{map[string]any{
			"id": "server-made", "type": "function",
			"function": map[string]string{"name": "code_interpreter", "arguments": string(arguments)},
		}}
	}
	writeJSON(w, map[string]any{
		"choices": []any{map[string]any{"message": message, "finish_reason": a.finish}},
		"usage":   map[string]int{"prompt_tokens": a.prompt, "completion_tokens": a.completion},
	})
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // a client that went away is the test's to notice
}

// scriptedServer plays whole conversations below /play/v1, and is broken in its
// own way below the other paths. It returns its address.
func scriptedServer(t *testing.T) string {
	t.Helper()
	models := func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"data": []any{map[string]any{"id": "scripted", "max_model_len": 8192}}})
	}
	p := &player{opened: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /play/v1/models", models)
	mux.HandleFunc("POST /play/v1/chat/completions", p.serve)
	mux.HandleFunc("GET /nousage/v1/models", models)
	mux.HandleFunc("POST /nousage/v1/chat/completions", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"choices": []any{map[string]any{"message": map[string]string{"content": "hi"}}}})
	})
	mux.HandleFunc("/garbage/v1/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>nothing here</html>") })
	mux.HandleFunc("/locked/v1/", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sesame" {
			http.Error(w, "no such key", http.StatusUnauthorized)
			return
		}
		models(w, r)
	})
	mux.HandleFunc("GET /revoked/v1/models", models)
	mux.HandleFunc("POST /revoked/v1/chat/completions", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "key was revoked", http.StatusForbidden)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// player answers for three problems: b01_sum is solved after two turns with
// tool calls, good and bad; every second sample of b02_reverse is right; the
// model gives up on all others.
type player struct {
	mu     sync.Mutex
	opened map[string]int // conversations begun, by problem
}

func (p *player) serve(w http.ResponseWriter, r *http.Request) {
	var a asked
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	turn := p.play(a)
	turn.finish = "stop"
	for _, m := range a.Messages { // four letters a token, and five for the turn's frame
		turn.prompt += 5 + len(m.Content)/4 + 20*len(m.ToolCalls)
	}
	turn.completion = 1 + len(turn.text+turn.native)/4
	turn.write(w)
}

func (p *player) play(a asked) answered {
	question, turns := a.Messages[1].Content, 0
	for _, m := range a.Messages {
		if m.Role == "assistant" {
			turns++
		}
	}
	last := a.Messages[len(a.Messages)-1].Content
	switch {
	case strings.Contains(question, "Print their sum"):
		return sumTurn(turns, last)
	case strings.Contains(question, "Print it written backwards"):
		p.mu.Lock()
		defer p.mu.Unlock()
		p.opened["reverse"]++
		if p.opened["reverse"]%2 == 1 {
			return answered{text: "```python\nprint(input())\n```"}
		}
		return answered{text: "```python\nprint(input()[::-1])\n```"}
	}
	return answered{text: "I do not know."}
}

// sumTurn goes on only if the tool said what it must have said.
func sumTurn(turn int, last string) answered {
	switch {
	case turn == 0:
		return answered{text: "Let me try.", native: "a, b = map(int, '3 4'.split())\nprint(a + b)"}
	case turn == 1 && strings.Contains(last, "7"):
		return answered{text: "Twice more.\n<tool_call>\n{\"name\": \"code_interpreter\", \"arguments\": {\"code\": \"1/0\"}}\n</tool_call>\n" +
			"<tool_call>\n{\"name\": \"code_interpreter\", \"arguments\": {\n</tool_call>"}
	case turn == 2 && strings.Contains(last, "could not be read"):
		return answered{text: "Now I know.\n\n```python\na, b = map(int, input().split())\nprint(a + b)\n```"}
	}
	return answered{text: "The tool did not work: " + last}
}
