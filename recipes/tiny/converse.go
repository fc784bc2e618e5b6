package tiny

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/datasets/tinytasks"
	"github.com/coderl/cr/eval"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/runtime/chat"
)

// callLimit is the CPU time of one draft; none takes more than a moment.
const callLimit = 6 * time.Second

// converse plays one task: wrong drafts, the right one, the answer. After each
// draft the assistant says what was expected and what came, which is all that it
// has to go by. Wrong drafts stay out of the loss: what follows them is to be
// learnt, not they.
func (m *Maker) converse(ctx context.Context, rng *rand.Rand, t tinytasks.Task) (Conversation, error) {
	c := Conversation{Tools: m.Tool.Tools()}
	for _, opening := range eval.LiveCodeBenchPrompt(datasets.Problem{Statement: t.Statement, StarterCode: t.Starter}, true) {
		c.Messages = append(c.Messages, Message{Role: opening.Role, Content: opening.Content})
	}
	said := ""
	for _, d := range m.drafts(rng, t) {
		reply, err := m.try(ctx, d.code)
		if err != nil {
			return c, err
		}
		c.Messages = append(c.Messages, d.message(said), Message{Role: "tool", Content: reply})
		matches := false
		if said, matches = verdict(t.Public.Shown(), reply); matches == d.wrong {
			return c, fmt.Errorf("a draft meant to be wrong: %v, but of it must be said: %s\n%s", d.wrong, said, d.code)
		}
	}
	c.Messages = append(c.Messages, Message{Role: "assistant", Content: said + "\n```python\n" + t.Recipe.Program() + "\n```"})
	return c, nil
}

// draft is a program for the tool.
type draft struct {
	code  string
	wrong bool
}

func (d draft) message(content string) Message {
	call := Function{Name: agent.InterpreterName, Arguments: map[string]string{"code": d.code}}
	m := Message{Role: "assistant", Content: content, ToolCalls: []ToolCall{{Type: "function", Function: call}}}
	if d.wrong {
		m.LossMask = new(int)
	}
	return m
}

// drafts are none to two wrong ones that the sample gives away, then the right
// one.
func (m *Maker) drafts(rng *rand.Rand, t tinytasks.Task) []draft {
	right := t.Recipe.Draft(t.Public)
	var wrong []string
	for _, v := range t.Wrong {
		if t.Shows(v) {
			wrong = append(wrong, v.Recipe.Draft(t.Public))
		}
	}
	var drafts []draft
	for len(drafts) < 2 && len(wrong) > 0 && rng.Float64() < m.WrongShare {
		code := wrong[rng.IntN(len(wrong))]
		if rng.IntN(10) == 0 {
			code = unclosed(rng, right)
		}
		drafts = append(drafts, draft{code: code, wrong: true})
	}
	return append(drafts, draft{code: right})
}

// unclosed is code that lost a closing bracket.
func unclosed(rng *rand.Rand, code string) string {
	var places []int
	for i := range len(code) {
		if code[i] == ')' || code[i] == ']' {
			places = append(places, i)
		}
	}
	at := places[rng.IntN(len(places))]
	return code[:at] + code[at+1:]
}

// try runs a draft as the agent loop does.
func (m *Maker) try(ctx context.Context, code string) (string, error) {
	arguments, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		return "", fmt.Errorf("encode call: %w", err)
	}
	reply, err := m.Tool.Call(ctx, chat.ToolCall{Name: agent.InterpreterName, Arguments: arguments}, callLimit)
	return agent.Clip(reply.Text, agent.DefaultBudgets().ToolOutput), err
}

// verdict is what the assistant says of a reply, and whether it is content.
func verdict(want, reply string) (said string, matches bool) {
	got, printed := strings.CutPrefix(reply, "stdout:\n")
	got, ended := strings.CutSuffix(got, "\nexit status: 0")
	if !printed || !ended {
		got = "an error"
	}
	said = "Expected:\n" + want + "\nGot:\n" + got
	if got == want {
		return said + "\nIt matches.", true
	}
	return said + "\nIt does not match.", false
}
