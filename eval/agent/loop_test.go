package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coderl/cr/runtime/chat"
)

var errSandboxDown = errors.New("sandbox is down")

// call is a Hermes block that runs code; it holds no space, so that it is part
// of one word of the script.
func call(code string) string {
	return `<tool_call>{"name":"code_interpreter","arguments":{"code":"` + strings.ReplaceAll(code, " ", "\\u0020") + `"}}</tool_call>`
}

func play(t *testing.T, s *scripted, change func(*Budgets)) (Episode, *executor) {
	t.Helper()
	ep, ex, err := tryPlay(s, change)
	if err != nil {
		t.Fatal(err)
	}
	return ep, ex
}

func tryPlay(s *scripted, change func(*Budgets)) (Episode, *executor, error) {
	budgets := DefaultBudgets()
	if change != nil {
		change(&budgets)
	}
	ex := &executor{}
	ep, err := Run(context.Background(), s, Interpreter{Executor: ex},
		Opening{Messages: []chat.Message{{Role: "user", Content: "three words here"}}}, budgets)
	return ep, ex, err
}

func heard(s *scripted) []string {
	var texts []string
	for _, m := range s.heard {
		texts = append(texts, m.Content)
	}
	return texts
}

func TestAllCallsOfATurnRunInOrder(t *testing.T) {
	s := &scripted{turns: []string{"two calls: " + call("print 1") + call("fail") + call("print 3"), "the answer"}}
	ep, ex := play(t, s, nil)
	if got, want := ex.codes(), []string{"print 1", "fail", "print 3"}; !slices.Equal(got, want) {
		t.Errorf("ran %q, want %q", got, want)
	}
	want := []string{
		"stdout:\n1\nexit status: 0",
		"stdout:\nbefore\nstderr:\nNameError: name 'x' is not defined\nexit status: 1",
		"stdout:\n3\nexit status: 0",
	}
	if got := heard(s); !slices.Equal(got, want) {
		t.Errorf("model was told %q, want %q", got, want)
	}
	if ep.Finish != FinishStop || ep.Final() != "the answer" || ep.ToolCalls != 3 || len(ep.Turns) != 2 {
		t.Errorf("episode %+v", ep)
	}
	if s.waits != 1 {
		t.Errorf("engine was told to wait %d times, want once", s.waits)
	}
	// user, assistant, three replies, assistant
	var roles, ids []string
	for _, m := range ep.Messages {
		roles, ids = append(roles, m.Role), append(ids, m.ToolCallID)
	}
	if got := strings.Join(roles, " "); got != "user assistant tool tool tool assistant" {
		t.Errorf("roles %s", got)
	}
	if got := ids[2:5]; !slices.Equal(got, []string{"call_1", "call_2", "call_3"}) {
		t.Errorf("call ids %q", got)
	}
	if calls := ep.Messages[1].ToolCalls; len(calls) != 3 || calls[1].ID != "call_2" {
		t.Errorf("recorded calls %+v", calls)
	}
	// words: prompt 3; turns 3 and 2; replies 4+8... counted by the script.
	if ep.PromptTokens != 3 || ep.CompletionTokens != 5 {
		t.Errorf("prompt %d, completion %d; want 3, 5", ep.PromptTokens, ep.CompletionTokens)
	}
}

func TestBrokenCallsAreAnsweredNotDropped(t *testing.T) {
	for name, block := range map[string]string{
		"brace missing":   `<tool_call>{"name":"code_interpreter","arguments":{"code":"print"}</tool_call>`,
		"raw newline":     "<tool_call>{\"name\":\"code_interpreter\",\"arguments\":{\"code\":\"a\nb\"}}</tool_call>",
		"unknown tool":    `<tool_call>{"name":"web_search","arguments":{}}</tool_call>`,
		"no code":         `<tool_call>{"name":"code_interpreter","arguments":{}}</tool_call>`,
		"code no string":  `<tool_call>{"name":"code_interpreter","arguments":{"code":7}}</tool_call>`,
		"other language":  `<tool_call>{"name":"code_interpreter","arguments":{"code":"x","language":"cobol"}}</tool_call>`,
		"bad timeout":     `<tool_call>{"name":"code_interpreter","arguments":{"code":"x","timeout":-1}}</tool_call>`,
		"timeout no time": `<tool_call>{"name":"code_interpreter","arguments":{"code":"x","timeout":"soon"}}</tool_call>`,
	} {
		t.Run(name, func(t *testing.T) {
			s := &scripted{turns: []string{block, "done"}}
			ep, ex := play(t, s, nil)
			if len(ex.jobs) != 0 {
				t.Fatalf("ran %q", ex.codes())
			}
			if len(s.heard) != 1 || !strings.HasPrefix(s.heard[0].Content, "Error: ") {
				t.Errorf("model was told %q, want one error", heard(s))
			}
			if ep.Finish != FinishStop || len(ep.Turns) != 2 {
				t.Errorf("finish %s after %d turns; the dialogue must go on", ep.Finish, len(ep.Turns))
			}
		})
	}
}

func TestGoodCallsBesideABrokenOneRun(t *testing.T) {
	s := &scripted{turns: []string{call("print 1") + `<tool_call>{"name":</tool_call>` + call("print 2"), "done"}}
	_, ex := play(t, s, nil)
	if got := ex.codes(); !slices.Equal(got, []string{"print 1", "print 2"}) {
		t.Errorf("ran %q", got)
	}
	if len(s.heard) != 3 || !strings.HasPrefix(s.heard[1].Content, "Error: ") {
		t.Errorf("model was told %q", heard(s))
	}
}

func TestCallsInThinkingDoNotCount(t *testing.T) {
	s := &scripted{turns: []string{"<think> maybe " + call("print 1") + " </think> " + call("print 2"), "done"}}
	_, ex := play(t, s, nil)
	if got := ex.codes(); !slices.Equal(got, []string{"print 2"}) {
		t.Errorf("ran %q, want only the call of the answer", got)
	}
}

func TestWithoutToolsTextIsAnswer(t *testing.T) {
	s := &scripted{turns: []string{call("print 1")}}
	ep, err := Run(context.Background(), s, nil, Opening{}, DefaultBudgets())
	if err != nil || ep.Finish != FinishStop || len(ep.Turns) != 1 {
		t.Errorf("%+v, %v", ep, err)
	}
}

func TestEndlessLoopsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		turn   string
		change func(*Budgets)
		want   Finish
		turns  int
		ran    int
	}{
		"turns":     {call("print 1"), nil, FinishMaxTurns, 16, 15},
		"tokens":    {"w w w w " + call("print 1"), func(b *Budgets) { b.Tokens = 22 }, FinishLength, 2, 2},
		"calls":     {call("print 1") + call("print 2"), func(b *Budgets) { b.Calls = 5 }, FinishToolBudget, 4, 5},
		"tool time": {call("hang"), func(b *Budgets) { b.ToolTotal = 70 * time.Second }, FinishToolBudget, 5, 3},
		"cheap":     {call("print 1"), func(b *Budgets) { b.ToolTotal = 2 * time.Second }, FinishToolBudget, 4, 2},
	} {
		t.Run(name, func(t *testing.T) {
			ep, ex := play(t, &scripted{turns: []string{c.turn}}, c.change)
			if ep.Finish != c.want || len(ep.Turns) != c.turns || len(ex.jobs) != c.ran {
				t.Errorf("%s after %d turns and %d runs; want %s, %d, %d",
					ep.Finish, len(ep.Turns), len(ex.jobs), c.want, c.turns, c.ran)
			}
		})
	}
}

func TestToolTimeIsCutToWhatIsLeft(t *testing.T) {
	_, ex := play(t, &scripted{turns: []string{call("hang")}}, func(b *Budgets) { b.ToolTotal = 70 * time.Second })
	var limits []time.Duration
	for _, j := range ex.jobs {
		limits = append(limits, j.Limits.CPU)
	}
	if want := []time.Duration{30 * time.Second, 30 * time.Second, 10 * time.Second}; !slices.Equal(limits, want) {
		t.Errorf("limits %v, want %v", limits, want)
	}
}

func TestACutTurnRunsNothing(t *testing.T) {
	s := &scripted{turns: []string{call("print 1") + " and then some more words"}}
	ep, ex := play(t, s, func(b *Budgets) { b.Tokens = 3 })
	if ep.Finish != FinishLength || len(ex.jobs) != 0 || ep.CompletionTokens != 3 {
		t.Errorf("%s, ran %q, %d tokens", ep.Finish, ex.codes(), ep.CompletionTokens)
	}
}

func TestToolRepliesCountInTheBudget(t *testing.T) {
	// One turn of 1 word, a reply of 5 words and 1 of glue: 7 of 7.
	s := &scripted{turns: []string{call("print 1"), "never said"}}
	ep, _ := play(t, s, func(b *Budgets) { b.Tokens = 6 })
	if ep.Finish != FinishLength || ep.ReplyTokens != 6 || len(ep.Turns) != 1 {
		t.Errorf("%s, reply %d tokens, %d turns", ep.Finish, ep.ReplyTokens, len(ep.Turns))
	}
}

func TestContextEnds(t *testing.T) {
	s := &scripted{turns: []string{call("print 1")}, context: 9}
	if ep, _ := play(t, s, nil); ep.Finish != FinishLength {
		t.Errorf("finish %s, want length", ep.Finish)
	}
	s = &scripted{turns: []string{"x"}, context: 3}
	if ep, _ := play(t, s, nil); ep.Finish != FinishPromptTooLong || len(ep.Turns) != 0 {
		t.Errorf("finish %s, want prompt_too_long", ep.Finish)
	}
}

func TestSandboxFaultIsAnErrorNotText(t *testing.T) {
	s := &scripted{turns: []string{call("down")}}
	ep, _, err := tryPlay(s, nil)
	if !errors.Is(err, errSandboxDown) {
		t.Fatalf("error %v, want the sandbox's", err)
	}
	if len(s.heard) != 0 || len(ep.Turns) != 1 {
		t.Errorf("model was told %q; episode %+v", heard(s), ep)
	}
}

func TestLongToolOutputIsCut(t *testing.T) {
	s := &scripted{turns: []string{call("print " + strings.Repeat("x", 9000)), "done"}}
	_, _ = play(t, s, func(b *Budgets) { b.ToolOutput = 200 })
	got := s.heard[0].Content
	if len(got) > 200 || !strings.HasPrefix(got, "stdout:\nxxx") || !strings.HasSuffix(got, "xxx\nexit status: 0") ||
		!strings.Contains(got, "characters cut") {
		t.Errorf("reply %q", got)
	}
}
