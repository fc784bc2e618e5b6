package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// OpenAIConfig names an OpenAI-compatible server.
type OpenAIConfig struct {
	URL      string // base, such as http://host:8000/v1
	Model    string // the name the server knows the model by; "": its only model
	Token    string // bearer token, "" for none; sent to this server alone
	Attempts int    // tries of one request; 0 means 6
	// Backoff is the wait before the second try, doubled each time up to a
	// minute; 0 means one second. A longer Retry-After of the server counts.
	Backoff time.Duration
	// Timeout bounds one try; 0 means an hour, within which any turn ends that a
	// server still works on.
	Timeout time.Duration
	Client  *http.Client // nil: a client of its own
}

// OpenAI is an OpenAI-compatible server as an [Endpoint]: chat completions, one
// request a turn. Native tool calls are taken as the server parsed them, others
// are read from the text.
//
// Tokens are counted as the server counts them: usage.completion_tokens for a
// turn, and the growth of usage.prompt_tokens beyond it for the tool replies
// between two turns.
type OpenAI struct {
	http *caller
	info Info
	// plainTools: the server has no tool parser and refuses tool_choice auto,
	// so that calls come as text.
	plainTools atomic.Bool
}

var _ Endpoint = (*OpenAI)(nil)

// NewOpenAI finds the server's model and its context length by GET /models. A
// server without that route is taken as it is when cfg names a model. A URL
// without a path is also tried with /v1.
func NewOpenAI(ctx context.Context, cfg OpenAIConfig) (*OpenAI, error) {
	base, err := url.Parse(strings.TrimRight(cfg.URL, "/"))
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("endpoint %q: not an http(s) URL, such as http://host:8000/v1", cfg.URL)
	}
	o := &OpenAI{http: newCaller(base.String(), cfg), info: Info{Model: cfg.Model}}
	list, err := o.listModels(ctx, base.Path == "")
	if err != nil {
		return nil, err
	}
	return o, o.choose(list)
}

type modelList struct {
	Data []modelEntry `json:"data"`
}

type modelEntry struct {
	ID          string `json:"id"`
	MaxModelLen int    `json:"max_model_len"` // vLLM, SGLang
	Context     int    `json:"context_length"`
	Meta        struct {
		Train int `json:"n_ctx_train"` // llama.cpp
	} `json:"meta"`
}

func (m modelEntry) context() int {
	for _, n := range []int{m.MaxModelLen, m.Context, m.Meta.Train} {
		if n > 0 {
			return n
		}
	}
	return 0
}

// listModels asks for the models; a missing route gives an empty list.
func (o *OpenAI) listModels(ctx context.Context, tryV1 bool) (modelList, error) {
	var list modelList
	err := o.http.do(ctx, http.MethodGet, "/models", nil, &list)
	var status *StatusError
	if !errors.As(err, &status) || (status.Code != http.StatusNotFound && status.Code != http.StatusMethodNotAllowed) {
		return list, err
	}
	if tryV1 {
		withV1 := o.http.at("/v1")
		if err := withV1.do(ctx, http.MethodGet, "/models", nil, &list); err == nil {
			o.http = withV1
		}
	}
	return list, nil
}

func (o *OpenAI) choose(list modelList) error {
	if o.info.Model == "" && len(list.Data) == 1 {
		o.info.Model = list.Data[0].ID
	}
	var names []string
	for _, m := range list.Data {
		if m.ID == o.info.Model {
			o.info.Context = m.context()
			return nil
		}
		names = append(names, m.ID)
	}
	switch {
	case o.info.Model == "" && len(names) == 0:
		return fmt.Errorf("endpoint %s: lists no model; name one: %w", o.http.base, ErrFatal)
	case o.info.Model == "":
		return fmt.Errorf("endpoint %s: serves several models (%s); name one: %w", o.http.base, strings.Join(names, ", "), ErrFatal)
	case len(names) > 0:
		return fmt.Errorf("endpoint %s: does not serve model %q, only %s: %w", o.http.base, o.info.Model, strings.Join(names, ", "), ErrFatal)
	}
	return nil // no list: the name is taken on trust
}

// Info describes the served model.
func (o *OpenAI) Info() Info { return o.info }

// complete sends one request and checks the answer's shape.
func (o *OpenAI) complete(ctx context.Context, r chatRequest) (chatReply, error) {
	if len(r.Tools) > 0 && o.plainTools.Load() {
		r.ToolChoice = "none"
	}
	var reply chatReply
	err := o.http.do(ctx, http.MethodPost, "/chat/completions", r, &reply)
	if len(r.Tools) > 0 && r.ToolChoice == "" && refusesToolChoice(err) {
		o.plainTools.Store(true)
		return o.complete(ctx, r)
	}
	if err != nil {
		return reply, err
	}
	if err := reply.check(); err != nil {
		return reply, fmt.Errorf("%s/chat/completions: %w", o.http.base, err)
	}
	if reply.Usage.Prompt <= 0 || reply.Usage.Completion < 0 {
		return reply, fmt.Errorf("%s/chat/completions: the answer has no usage.prompt_tokens; the response budget cannot be counted: %w", o.http.base, ErrFatal)
	}
	return reply, nil
}

// check refuses an answer in which the model did not end its turn: it must not
// be scored as one.
func (r chatReply) check() error {
	switch {
	case len(r.Choices) == 0 && len(r.Error) > 0:
		return fmt.Errorf("the server failed: %s", oneLine(r.Error))
	case len(r.Choices) == 0:
		return errors.New("the answer has no choices")
	case r.Choices[0].Message == nil:
		return errors.New("the answer has no message")
	case r.Choices[0].Finish == "abort" || r.Choices[0].Finish == "error":
		return fmt.Errorf("the server broke the turn off (finish_reason %q)", r.Choices[0].Finish)
	}
	return nil
}

// refusesToolChoice recognises a vLLM server that was started without a tool
// parser.
func refusesToolChoice(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && status.Code == http.StatusBadRequest &&
		strings.Contains(status.Body, "tool choice")
}

// isTooLong recognises a refusal for the conversation's length, by the words
// that vLLM, SGLang, llama.cpp and OpenAI use.
func isTooLong(err error) bool {
	var status *StatusError
	if !errors.As(err, &status) || (status.Code != http.StatusBadRequest && status.Code != http.StatusRequestEntityTooLarge) {
		return false
	}
	body := strings.ToLower(status.Body)
	for _, words := range []string{"context length", "context_length", "context size", "context window", "longer than the model"} {
		if strings.Contains(body, words) {
			return true
		}
	}
	return false
}
