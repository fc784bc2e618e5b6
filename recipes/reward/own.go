package reward

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/runtime/chat"
)

// Hard limits of a reply.
const (
	maxReply   = 1 << 20
	maxScore   = 1e6
	maxMetrics = 256
	tempFail   = 75 // EX_TEMPFAIL of sysexits.h: try again later
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
	Score   *float64           `json:"score"`
	Metrics map[string]float64 `json:"metrics"` // logged as their mean over a step
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
	if strings.HasPrefix(r.Own, "http://") || strings.HasPrefix(r.Own, "https://") {
		return service{r.Own, limit}
	}
	return program{r.Own, limit}
}

// Reachable tells, before anything is computed, whether a reward of one's own
// that is an executable can be started.
func Reachable(r preset.Reward) error {
	if r.Own == "" || strings.HasPrefix(r.Own, "http://") || strings.HasPrefix(r.Own, "https://") {
		return nil
	}
	if _, err := exec.LookPath(r.Own); err != nil {
		return fmt.Errorf("reward.own: %w: %w", ErrBroken, err)
	}
	return nil
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
		return score, fmt.Errorf("reward.own %s: %w", b.recipe.Own, err)
	}
	score.Code, score.Metrics = *reply.Score, reply.Metrics
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
	return r, nil
}

// program is an executable: the request on its stdin, the reply on its stdout.
// Exit status 75 asks to be tried again; another one but 0 breaks the protocol.
type program struct {
	path  string
	limit time.Duration
}

func (p program) call(ctx context.Context, request []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.limit, fmt.Errorf("no reply within %s", p.limit))
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path)
	var out, errs bounded
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(request), &out, &errs
	cmd.WaitDelay = time.Second
	alone(cmd)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil && out.full:
		return nil, fmt.Errorf("%w: a reply of more than %d bytes", ErrBroken, maxReply)
	case err == nil:
		return out.kept, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &exit) && exit.ExitCode() == tempFail:
		return nil, fmt.Errorf("exit status %d: %s", tempFail, lastLine(errs.kept))
	case errors.As(err, &exit):
		return nil, fmt.Errorf("%w: %w: %s", ErrBroken, err, lastLine(errs.kept))
	}
	return nil, fmt.Errorf("%w: %w", ErrBroken, err)
}

// bounded keeps the beginning of what is written.
type bounded struct {
	kept []byte
	full bool
}

// Write implements [io.Writer]; it takes everything and keeps what fits.
func (b *bounded) Write(p []byte) (int, error) {
	room := maxReply - len(b.kept)
	b.full = b.full || len(p) > room
	b.kept = append(b.kept, p[:min(len(p), room)]...)
	return len(p), nil
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(text), "")), "\n")
	return lines[len(lines)-1]
}

// service is an HTTP endpoint: the request is posted, the reply is the body.
// 408, 429, 5xx and lost connections are tried again; other refusals break the
// protocol.
type service struct {
	url   string
	limit time.Duration
}

func (s service) call(ctx context.Context, request []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.limit, fmt.Errorf("no reply within %s", s.limit))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(request))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxReply+1))
	code := res.StatusCode
	switch {
	case err != nil:
		return nil, err
	case code == http.StatusRequestTimeout || code == http.StatusTooManyRequests || code >= 500:
		return nil, fmt.Errorf("HTTP %d: %s", code, lastLine(body))
	case code/100 != 2:
		return nil, fmt.Errorf("%w: HTTP %d: %s", ErrBroken, code, lastLine(body))
	case len(body) > maxReply:
		return nil, fmt.Errorf("%w: a reply of more than %d bytes", ErrBroken, maxReply)
	}
	return body, nil
}
