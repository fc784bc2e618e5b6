package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coderl/cr/runtime/chat"
)

// stub is an OpenAI-compatible server whose answers a function makes.
type stub struct {
	*httptest.Server
	mu       sync.Mutex
	requests []map[string]any
	tokens   []string // Authorization headers
}

// newStub serves models at /v1/models, and at /v1/chat/completions whatever
// answer writes for the n-th request, counted from 1.
func newStub(t *testing.T, models string, answer func(w http.ResponseWriter, n int, request map[string]any)) *stub {
	t.Helper()
	s := &stub{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		if models == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, models)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var request map[string]any
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Errorf("request is no JSON: %v", err)
		}
		s.mu.Lock()
		s.requests = append(s.requests, request)
		s.tokens = append(s.tokens, r.Header.Get("Authorization"))
		n := len(s.requests)
		s.mu.Unlock()
		answer(w, n, request)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *stub) endpoint(t *testing.T, model string) *OpenAI {
	t.Helper()
	o, err := NewOpenAI(context.Background(), OpenAIConfig{
		URL: s.URL + "/v1", Model: model, Token: "secret", Attempts: 3, Backoff: time.Millisecond, Client: s.Client(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func completion(w http.ResponseWriter, message, finish string, prompt, sampled int) {
	_, _ = fmt.Fprintf(w, `{"choices":[{"message":%s,"finish_reason":%q}],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`,
		message, finish, prompt, sampled)
}

const oneModel = `{"object":"list","data":[{"id":"m","max_model_len":4096}]}`

func runStub(o *OpenAI, tools Toolbox, change func(*Budgets)) (Episode, error) {
	b := DefaultBudgets()
	b.Tokens = 1000
	if change != nil {
		change(&b)
	}
	return Run(context.Background(), o, tools, Opening{
		Messages: []chat.Message{{Role: "user", Content: "a < b & c"}},
		Sampling: Sampling{Temperature: 0.6, TopP: 0.95, TopK: 20, Seed: 7, Request: "q/0"},
	}, b)
}

func TestServerNativeToolCalls(t *testing.T) {
	s := newStub(t, oneModel, func(w http.ResponseWriter, n int, _ map[string]any) {
		if n == 1 {
			completion(w, `{"role":"assistant","content":null,"tool_calls":[`+
				`{"id":"random-1","type":"function","function":{"name":"code_interpreter","arguments":"{\"code\": \"print 1\"}"}},`+
				`{"id":"random-2","type":"function","function":{"name":"code_interpreter","arguments":"{broken"}},`+
				`{"function":{"name":""}}]}`, "tool_calls", 50, 20)
			return
		}
		completion(w, `{"role":"assistant","content":"answer","reasoning_content":"so"}`, "stop", 95, 10)
	})
	ex := &executor{}
	ep, err := runStub(s.endpoint(t, "m"), Interpreter{Executor: ex}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(ex.jobs) != 1 || ep.ToolCalls != 2 || ep.Finish != FinishStop || ep.Final() != "<think>\nso\n</think>\n\nanswer" {
		t.Errorf("ran %q, episode %+v", ex.codes(), ep)
	}
	// 95 − (50+20) tokens of replies.
	if ep.PromptTokens != 50 || ep.CompletionTokens != 30 || ep.ReplyTokens != 25 {
		t.Errorf("tokens %d, %d, %d; want 50, 30, 25", ep.PromptTokens, ep.CompletionTokens, ep.ReplyTokens)
	}
	// The second request repeats the turn under our ids, with the arguments as
	// the server wrote them, and the replies in order.
	messages, _ := s.requests[1]["messages"].([]any)
	raw, _ := json.Marshal(messages)
	for _, want := range []string{
		`"arguments":"{\"code\": \"print 1\"}"`, `"arguments":"{broken"`, `"tool_call_id":"call_1"`, `"tool_call_id":"call_2"`, `"content":"Error: this tool call could not be read: it has no name. Nothing was run.","role":"tool","tool_call_id":"call_3"`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("second request lacks %s: %s", want, raw)
		}
	}
	if strings.Contains(string(raw), "random") || len(messages) != 5 {
		t.Errorf("second request %s", raw)
	}
	written, err := json.Marshal(ep.Messages)
	if err != nil {
		t.Fatalf("transcript cannot be written: %v", err)
	}
	var back []chat.Message
	if err := json.Unmarshal(written, &back); err != nil || len(back) != len(ep.Messages) {
		t.Errorf("transcript cannot be read back: %v", err)
	}
}

func TestServerRequestFields(t *testing.T) {
	s := newStub(t, oneModel, func(w http.ResponseWriter, _ int, _ map[string]any) {
		completion(w, `{"role":"assistant","content":"x"}`, "length", 9, 5)
	})
	o := s.endpoint(t, "m")
	ep, err := runStub(o, Interpreter{}, nil)
	if err != nil || ep.Finish != FinishLength {
		t.Fatalf("%+v, %v", ep, err)
	}
	if _, err := runStub(o, nil, func(b *Budgets) { b.Tokens = 4090 }); err != nil {
		t.Fatal(err)
	}
	r := s.requests[0]
	for name, want := range map[string]any{
		"model": "m", "n": 1.0, "temperature": 0.6, "top_p": 0.95, "top_k": 20.0, "max_tokens": 1000.0,
		"chat_template_kwargs": map[string]any{"enable_thinking": false},
	} {
		if fmt.Sprint(r[name]) != fmt.Sprint(want) {
			t.Errorf("%s is %v, want %v", name, r[name], want)
		}
	}
	if _, sent := r["min_p"]; sent {
		t.Error("min_p 0 was sent")
	}
	if tools, _ := r["tools"].([]any); len(tools) != 1 {
		t.Errorf("tools %v", r["tools"])
	}
	if r["seed"] != s.requests[1]["seed"] {
		t.Error("the same sample was asked for with another seed")
	}
	if _, sent := s.requests[1]["max_tokens"]; sent {
		t.Error("a budget that may not fit beside the prompt was sent: vLLM refuses it")
	}
	if s.tokens[0] != "Bearer secret" {
		t.Errorf("authorization %q", s.tokens[0])
	}
	if o.Info().Context != 4096 {
		t.Errorf("context %d", o.Info().Context)
	}
}

func TestSeedsDifferBySampleAndTurn(t *testing.T) {
	seen := map[int64]string{}
	for _, request := range []string{"a/0", "a/1", "b/0"} {
		for turn := range 3 {
			for seed := range uint64(3) {
				at := fmt.Sprint(seed, request, turn)
				v := turnSeed(Sampling{Seed: seed, Request: request}, turn)
				if v < 0 || v >= 1<<31 || seen[v] != "" {
					t.Errorf("seed %d of %s; taken by %q", v, at, seen[v])
				}
				seen[v] = at
			}
		}
	}
}

func TestServerRetries(t *testing.T) {
	s := newStub(t, oneModel, func(w http.ResponseWriter, n int, _ map[string]any) {
		switch n {
		case 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		case 2:
			panic(http.ErrAbortHandler) // drops the connection
		default:
			completion(w, `{"content":"x"}`, "stop", 9, 5)
		}
	})
	if ep, err := runStub(s.endpoint(t, "m"), nil, nil); err != nil || ep.Final() != "x" {
		t.Errorf("%+v, %v", ep, err)
	}
}

func TestServerErrors(t *testing.T) {
	for name, c := range map[string]struct {
		status   int
		body     string
		requests int
		fatal    bool
		want     string
	}{
		"always busy":  {503, "overloaded\nplease wait", 3, false, "gave up after 3 tries"},
		"bad token":    {401, `{"error":"no"}`, 1, true, "HTTP 401"},
		"no such":      {404, "", 1, true, "HTTP 404 Not Found: (no message)"},
		"bad request":  {400, "top_k unknown", 1, false, "HTTP 400 Bad Request: top_k unknown"},
		"not JSON":     {200, "<html>", 1, false, "not the JSON expected"},
		"no choices":   {200, `{"usage":{"prompt_tokens":1}}`, 1, false, "no choices"},
		"no usage":     {200, `{"choices":[{"message":{"content":"x"}}]}`, 1, true, "usage"},
		"null message": {200, `{"choices":[{"message":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`, 1, false, "no message"},
		"no message":   {200, `{"choices":[{}],"usage":{"prompt_tokens":1}}`, 1, false, "no message"},
		"broken off":   {200, `{"choices":[{"message":{"content":"half"},"finish_reason":"abort"}],"usage":{"prompt_tokens":1}}`, 1, false, `finish_reason "abort"`},
		"error object": {200, `{"error":{"message":"CUDA died"}}`, 1, false, "CUDA died"},
		"wrong shapes": {200, `{"choices":{"a":1}}`, 1, false, "not the JSON expected"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStub(t, oneModel, func(w http.ResponseWriter, _ int, _ map[string]any) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			_, err := runStub(s.endpoint(t, "m"), nil, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %q, want one line with %q", err, c.want)
			}
			if errors.Is(err, ErrFatal) != c.fatal || len(s.requests) != c.requests {
				t.Errorf("fatal %v after %d requests; want %v, %d", errors.Is(err, ErrFatal), len(s.requests), c.fatal, c.requests)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Error("the error shows the token")
			}
		})
	}
}

// TestServerHangs: a request without an answer ends, and is tried again.
func TestServerHangs(t *testing.T) {
	const tries = 3
	release := make(chan struct{})
	s := newStub(t, oneModel, func(w http.ResponseWriter, n int, _ map[string]any) {
		if n <= tries {
			<-release
		}
		completion(w, `{"content":"x"}`, "stop", 9, 5)
	})
	t.Cleanup(func() { close(release) }) // before the server's own, which waits for its handlers
	o, err := NewOpenAI(context.Background(), OpenAIConfig{
		URL: s.URL + "/v1", Model: "m", Attempts: tries, Backoff: time.Millisecond, Timeout: time.Second / 2, Client: s.Client(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runStub(o, nil, nil); err == nil || !strings.Contains(err.Error(), "gave up after 3 tries") || !strings.Contains(err.Error(), "no answer within 500ms") {
		t.Errorf("a hanging server: %v", err)
	}
	if ep, err := runStub(o, nil, nil); err != nil || ep.Final() != "x" {
		t.Errorf("%+v, %v", ep, err)
	}
}

// TestServerSendsArgumentsAsObject: they are those of the call, and go back as
// the text that the protocol has.
func TestServerSendsArgumentsAsObject(t *testing.T) {
	s := newStub(t, oneModel, func(w http.ResponseWriter, n int, _ map[string]any) {
		if n == 1 {
			completion(w, `{"tool_calls":[{"function":{"name":"code_interpreter","arguments":{"code": "print 1"}}}]}`, "tool_calls", 50, 20)
			return
		}
		completion(w, `{"content":"answer"}`, "stop", 95, 10)
	})
	ex := &executor{}
	if _, err := runStub(s.endpoint(t, "m"), Interpreter{Executor: ex}, nil); err != nil || len(ex.jobs) != 1 {
		t.Fatalf("ran %q, %v", ex.codes(), err)
	}
	sent, _ := json.Marshal(s.requests[1]["messages"])
	if !strings.Contains(string(sent), `"arguments":"{\"code\": \"print 1\"}"`) {
		t.Errorf("sent back %s", sent)
	}
}

func TestServerContextOverflow(t *testing.T) {
	refuse := func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"message":"This model's maximum context length is 4096 tokens. However, ..."}`)
	}
	s := newStub(t, oneModel, func(w http.ResponseWriter, _ int, _ map[string]any) { refuse(w) })
	if ep, err := runStub(s.endpoint(t, "m"), nil, nil); err != nil || ep.Finish != FinishPromptTooLong {
		t.Errorf("first turn: %s, %v", ep.Finish, err)
	}
	s = newStub(t, oneModel, func(w http.ResponseWriter, n int, _ map[string]any) {
		if n > 1 {
			refuse(w)
			return
		}
		quoted, _ := json.Marshal(call("print 1"))
		completion(w, `{"content":`+string(quoted)+`}`, "stop", 9, 5)
	})
	if ep, err := runStub(s.endpoint(t, "m"), Interpreter{Executor: &executor{}}, nil); err != nil || ep.Finish != FinishLength || len(ep.Turns) != 1 {
		t.Errorf("second turn: %+v, %v", ep, err)
	}
}

func TestServerWithoutToolParser(t *testing.T) {
	s := newStub(t, oneModel, func(w http.ResponseWriter, _ int, r map[string]any) {
		if r["tool_choice"] != "none" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`)
			return
		}
		completion(w, `{"content":"x"}`, "stop", 9, 5)
	})
	o := s.endpoint(t, "m")
	for range 2 {
		if _, err := runStub(o, Interpreter{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.requests) != 3 {
		t.Errorf("%d requests, want 3: the refusal is met once", len(s.requests))
	}
}

func TestServerModels(t *testing.T) {
	two := `{"data":[{"id":"a"},{"id":"b","context_length":99}]}`
	for name, c := range map[string]struct {
		models, model string
		want          string // model, or part of the error
		context       int
	}{
		"the only one": {oneModel, "", "m", 4096},
		"named":        {two, "b", "b", 99},
		"unknown":      {two, "c", `does not serve model "c", only a, b`, 0},
		"ambiguous":    {two, "", "serves several models (a, b)", 0},
		"no route":     {"", "x", "x", 0},
		"no name":      {"", "", "name one", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStub(t, c.models, nil)
			o, err := NewOpenAI(context.Background(), OpenAIConfig{URL: s.URL + "/v1/", Model: c.model, Attempts: 1, Client: s.Client()})
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q", err, c.want)
				}
				return
			}
			if o.Info() != (Info{Model: c.want, Context: c.context}) {
				t.Errorf("info %+v", o.Info())
			}
		})
	}
	s := newStub(t, oneModel, nil)
	o, err := NewOpenAI(context.Background(), OpenAIConfig{URL: s.URL, Client: s.Client()})
	if err != nil || o.Info().Model != "m" {
		t.Errorf("a URL without /v1: %v", err)
	}
	if _, err := NewOpenAI(context.Background(), OpenAIConfig{URL: "localhost:8000"}); err == nil || !strings.Contains(err.Error(), "not an http(s) URL") {
		t.Errorf("a URL without scheme: %v", err)
	}
}

// FuzzServerAnswer feeds the client any body: it must answer with a turn or an
// error, and its transcript must be writable.
func FuzzServerAnswer(f *testing.F) {
	f.Add(`{"choices":[{"message":{"content":[{"type":"text","text":"a"}]}}],"usage":{"prompt_tokens":1}}`)
	f.Add(`{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"arguments":"\ud800"}}]}}],"usage":{"prompt_tokens":1}}`)
	f.Fuzz(func(t *testing.T, body string) {
		var reply chatReply
		if json.Unmarshal([]byte(body), &reply) != nil || reply.check() != nil {
			return
		}
		c := openAIConversation{server: &OpenAI{}}
		turn := c.take(reply, 0)
		l := loop{tools: Interpreter{}}
		written, err := json.Marshal(assistantMessage(turn, l.callsOf(turn)))
		if err != nil {
			t.Fatalf("transcript cannot be written: %v", err)
		}
		var back chat.Message
		if err := json.Unmarshal(written, &back); err != nil {
			t.Errorf("transcript cannot be read back: %v: %s", err, written)
		}
	})
}
