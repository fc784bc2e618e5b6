package reward

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/runtime/chat"
)

// Hard limits of a reply.
const (
	maxReply   = 1 << 20
	maxScore   = 1e6
	maxMetrics = 256
	maxName    = 64 // bytes of a metric's name
)

// Request is what a reward of one's own is asked, one JSON object.
type Request struct {
	Version    int            `json:"version"` // of this protocol: 1
	QuestionID string         `json:"question_id"`
	Sample     int            `json:"sample"`
	Source     string         `json:"data_source"`
	Messages   []chat.Message `json:"messages"` // the whole conversation
	Code       string         `json:"code"`     // by the recipe's rule of extraction; "" for none
	Finish     agent.Finish   `json:"finish_reason"`
	Turns      int            `json:"turns"`
	ToolCalls  int            `json:"tool_calls"` // executed
	Method     string         `json:"fn_name"`
	Tests      []TestCase     `json:"tests"`
}

// TestCase is one of a problem's tests.
type TestCase struct {
	Input  string `json:"input"`
	Output string `json:"output"`
}

// Reply is the answer, one JSON object.
type Reply struct {
	Score   *float64            `json:"score"`
	Metrics map[string]*float64 `json:"metrics"` // logged as their mean over a step
}

// byOwn scores by the user's own reward.
type byOwn struct {
	scorer
	caller   caller
	patience Patience
}

// caller brings a request to the user's reward.
type caller interface {
	call(ctx context.Context, request []byte) (reply []byte, err error)
}

func newCaller(r preset.Reward) caller {
	limit := time.Duration(r.Timeout) * time.Second
	if isService(r.Own) {
		return service{r.Own, limit}
	}
	return program{r.Own, limit}
}

// isService tells an endpoint from an executable.
func isService(own string) bool {
	return strings.HasPrefix(own, "http://") || strings.HasPrefix(own, "https://")
}

// Score implements [Scorer].
func (b byOwn) Score(ctx context.Context, a Answer) (Score, error) {
	score := b.read(a)
	request, err := json.Marshal(newRequest(a, score.Program))
	if err != nil {
		return score, fmt.Errorf("%w: write the request: %w", ErrBroken, err)
	}
	var reply Reply
	err = b.patience.do(ctx, func() error {
		text, err := b.caller.call(ctx, request)
		if err != nil {
			return err
		}
		reply, err = parseReply(text)
		return err
	})
	if err != nil {
		return score, fmt.Errorf("reward.own %s: %w", shown(b.recipe.Own), err)
	}
	score.Code = *reply.Score
	if len(reply.Metrics) > 0 {
		score.Metrics = make(map[string]float64, len(reply.Metrics))
	}
	for name, value := range reply.Metrics {
		score.Metrics[name] = *value
	}
	b.finish(&score, a)
	return score, nil
}

func newRequest(a Answer, code string) Request {
	r := Request{
		Version: 1, QuestionID: a.Problem.ID, Sample: a.Sample, Source: a.Problem.Platform,
		Messages: a.Episode.Messages, Code: code, Finish: a.Episode.Finish,
		Turns: len(a.Episode.Turns), ToolCalls: a.Episode.ToolCalls, Method: a.Problem.Method, Tests: []TestCase{},
	}
	for _, t := range a.Problem.Tests {
		r.Tests = append(r.Tests, TestCase{t.Input, t.Output})
	}
	return r
}

// parseReply checks a reply; one that is no score breaks the protocol.
func parseReply(text []byte) (Reply, error) {
	var r Reply
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%w: the reply is not a JSON object with a score: %.80q", ErrBroken, text)
	}
	switch {
	case r.Score == nil:
		return r, fmt.Errorf("%w: the reply has no score: %.80q", ErrBroken, text)
	case math.Abs(*r.Score) > maxScore:
		return r, fmt.Errorf("%w: the score is %v, beyond ±%g", ErrBroken, *r.Score, float64(maxScore))
	case len(r.Metrics) > maxMetrics:
		return r, fmt.Errorf("%w: %d metrics, at most %d are logged", ErrBroken, len(r.Metrics), maxMetrics)
	}
	for name, value := range r.Metrics {
		if !metricName(name) {
			return r, fmt.Errorf("%w: a metric is named %.80q: want up to %d letters, digits and any of _-./@", ErrBroken, name, maxName)
		}
		if value == nil {
			return r, fmt.Errorf("%w: metric %s is null: leave it out, or give a number", ErrBroken, name)
		}
	}
	return r, nil
}

// metricName tells a name that stands in a console line without breaking it up.
func metricName(name string) bool {
	for _, c := range name {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_-./@", c) {
			return false
		}
	}
	return name != "" && len(name) <= maxName
}
