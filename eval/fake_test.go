package eval

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// keyed is a model whose turns depend on the request alone, as an engine's do.
type keyed struct {
	context int
	// before is called before each turn; an error of it is the turn's.
	before func(request string) error
}

func (k *keyed) Info() agent.Info { return agent.Info{Model: "keyed", Context: k.context} }

func (k *keyed) Start(_ context.Context, o agent.Opening) (agent.Conversation, error) {
	return &keyedConversation{keyed: k, request: o.Sampling.Request, prompt: len(o.Messages[1].Content) / 8}, nil
}

type keyedConversation struct {
	*keyed
	request      string
	prompt, turn int
}

func (c *keyedConversation) PromptTokens() int { return c.prompt }
func (c *keyedConversation) Wait()             {}
func (c *keyedConversation) Close()            {}

func (c *keyedConversation) Next(ctx context.Context, _ int) (agent.Turn, error) {
	if err := ctx.Err(); err != nil {
		return agent.Turn{}, err
	}
	if c.before != nil {
		if err := c.before(c.request); err != nil {
			return agent.Turn{}, err
		}
	}
	h := hash(c.request, c.turn)
	c.turn++
	// Out of order on purpose: the journal's order must not matter.
	time.Sleep(time.Duration(h%5) * 100 * time.Microsecond)
	t := agent.Turn{Tokens: 10 + int(h%7), Finish: "stop"}
	switch h % 6 {
	case 0:
		t.Text = "I cannot say <b>&\xff"
	case 1:
		t.Text = "cut ```python\nx"
		t.Finish = "length"
	case 2, 3:
		t.Text = "try <tool_call>\n{\"name\": \"code_interpreter\", \"arguments\": {\"code\": \"print(1 < 2)\"}}\n</tool_call>"
	default:
		t.Text = fmt.Sprintf("```python\nright = %d\n```", h%3)
	}
	return t, nil
}

func (c *keyedConversation) Reply(_ context.Context, results []chat.Message) (int, error) {
	return 7 * len(results), nil
}

func hash(request string, turn int) uint32 {
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%s#%d", request, turn)
	return h.Sum32() * 2654435761 >> 8 // FNV alone leaves near requests near
}

// tools answers every call.
type tools struct{}

func (tools) Tools() []chat.Tool { return agent.Interpreter{}.Tools() }

func (tools) Call(context.Context, chat.ToolCall, time.Duration) (agent.ToolReply, error) {
	return agent.ToolReply{Text: "stdout:\nTrue\nexit status: 0"}, nil
}

// fakeJudge accepts "right = 1" on every test, "right = 2" on the first only.
// Its times differ from call to call, as real ones do.
type fakeJudge struct {
	calls atomic.Int64
	fail  func(id string) error
}

func (j *fakeJudge) Judge(ctx context.Context, code string, task judge.Task) (judge.Report, error) {
	if err := ctx.Err(); err != nil {
		return judge.Report{}, err
	}
	if j.fail != nil {
		if err := j.fail(task.ID); err != nil {
			return judge.Report{}, err
		}
	}
	noise := time.Duration(j.calls.Add(1))
	report := judge.Report{Verdict: sandbox.AC}
	for i := range task.Tests {
		r := judge.TestResult{Verdict: sandbox.AC, CPU: 20*time.Millisecond + noise*time.Microsecond, Memory: 9<<20 + int64(noise)}
		if !strings.Contains(code, "right = 1") && (i > 0 || !strings.Contains(code, "right = 2")) {
			r.Verdict, r.CPU = sandbox.TLE, task.Limits.CPU+noise*time.Millisecond
			report.Verdict = sandbox.TLE
		}
		report.Tests = append(report.Tests, r)
	}
	return report, nil
}

func testSet(problems int) datasets.Set {
	set := datasets.Set{Name: "own", SHA256: "abc"}
	for i := range problems {
		set.Problems = append(set.Problems, datasets.Problem{
			ID: fmt.Sprintf("p%02d", i), Statement: strings.Repeat("x", 8*i), Platform: "atcoder",
			Difficulty: []string{"easy", "medium", "hard"}[i%3], ContestDate: time.Date(2024, time.Month(1+i%2), 3, 0, 0, 0, 0, time.UTC),
			Tests: []judge.Test{{Output: "1"}, {Output: "2"}},
		})
	}
	return set
}

func testConfig(t *testing.T) Config {
	t.Helper()
	return Config{
		Benchmark: "livecodebench", N: 3, Sampling: agent.Sampling{Temperature: .6, TopP: .95, Seed: 5},
		Budgets: agent.DefaultBudgets(), Extract: ExtractLast, Compare: judge.Strict,
		Out: filepath.Join(t.TempDir(), "run"), Concurrency: 4, Judges: 2,
	}
}

func testDeps(problems int) Deps {
	return Deps{Set: testSet(problems), Endpoint: &keyed{}, Tools: tools{}, Judge: &fakeJudge{}}
}

var errDown = errors.New("judge answers 503")
