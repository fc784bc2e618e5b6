package tiny

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/datasets/tinytasks"
	"github.com/coderl/cr/eval"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

func TestMain(m *testing.M) {
	sandbox.MaybeRunStub()
	os.Exit(m.Run())
}

// maker has a sandbox, or skips the test where the host cannot isolate.
func maker(t *testing.T) *Maker {
	t.Helper()
	local, err := sandbox.NewLocal(sandbox.LocalOptions{Workers: 2})
	if errors.Is(err, sandbox.ErrNoIsolation) {
		t.Skipf("this host cannot isolate programs: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := local.Close(); err != nil {
			t.Errorf("close the sandbox: %v", err)
		}
	})
	return &Maker{Tool: agent.Interpreter{Executor: local}, Judge: judge.New(local), WrongShare: 0.6, Seed: 1, Workers: 2}
}

func someTasks(t *testing.T, n int) []tinytasks.Task {
	t.Helper()
	g, err := tinytasks.NewGenerator(tinytasks.SFT, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g.Tasks(n)
}

// scripted says an assistant's recorded turns to the agent loop.
type scripted struct{ turns []string }

func (*scripted) Info() agent.Info { return agent.Info{} }

func (s *scripted) Start(context.Context, agent.Opening) (agent.Conversation, error) { return s, nil }

func (s *scripted) Next(context.Context, int) (agent.Turn, error) {
	turn := agent.Turn{Text: s.turns[0], Tokens: 1, Finish: "stop"}
	s.turns = s.turns[1:]
	return turn, nil
}

func (*scripted) Reply(context.Context, []chat.Message) (int, error) { return 1, nil }
func (*scripted) PromptTokens() int                                  { return 1 }
func (*scripted) Wait()                                              {}
func (*scripted) Close()                                             {}

// TestConversationsAreWhatTheAgentLoopPlays says the assistant's turns of every
// conversation to the loop of cr eval, as the model would sample them: the loop
// must read the same calls, give the same replies, and the eval must judge the
// answer right.
func TestConversationsAreWhatTheAgentLoopPlays(t *testing.T) {
	m, text := maker(t), loadModel(t)
	tasks := someTasks(t, 8)
	conversations, err := m.Conversations(context.Background(), tasks)
	if err != nil {
		t.Fatal(err)
	}
	repaired := 0
	for i, c := range conversations {
		task := tasks[i/len(tasks[0].Samples)].Told(i % len(tasks[0].Samples))
		opening := agent.Opening{Messages: eval.LiveCodeBenchPrompt(
			datasets.Problem{Statement: task.Statement, StarterCode: task.Starter}, true)}
		ep, err := agent.Run(context.Background(), &scripted{turns: sampled(t, text, c)}, m.Tool, opening, agent.DefaultBudgets())
		if err != nil {
			t.Fatal(err)
		}
		if len(ep.Messages) != len(c.Messages) {
			t.Fatalf("conversation %d has %d messages, the loop played %d", i, len(c.Messages), len(ep.Messages))
		}
		for j, played := range ep.Messages {
			if played.Role != c.Messages[j].Role || played.Role != "assistant" && played.Content != c.Messages[j].Content {
				t.Errorf("conversation %d, message %d: the loop has %q", i, j, played.Content)
			}
		}
		code := eval.Extract(eval.ExtractLast, eval.Answer{Final: ep.Final()}).Code
		if v, err := m.judge(context.Background(), task, code); v != sandbox.AC {
			t.Errorf("conversation %d: the answer is %s, %v:\n%s", i, v, err, code)
		}
		if repaired += ep.ToolCalls - 1; ep.ToolCalls > 1 {
			checkMasks(t, c)
		}
	}
	if repaired < 5 {
		t.Errorf("%d wrong drafts in %d conversations", repaired, len(conversations))
	}
}

// sampled are the assistant's turns as the template writes them.
func sampled(t *testing.T, m *chat.Model, c Conversation) []string {
	t.Helper()
	raw, err := json.Marshal(c.Messages)
	if err != nil {
		t.Fatal(err)
	}
	messages, _, err := chat.ParseConversation(raw)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := m.Render(messages, c.Tools, chat.RenderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	opening, err := m.Render(messages[:2], c.Tools, chat.RenderOptions{AddGenerationPrompt: true})
	if err != nil || !slices.Equal(opening.IDs, whole.IDs[:len(opening.IDs)]) {
		t.Fatalf("an eval's opening does not begin the conversation: %v", err)
	}
	var turns []string
	for _, part := range strings.Split(whole.Text, "<|im_start|>assistant\n")[1:] {
		turn, _, _ := strings.Cut(part, "<|im_end|>")
		turns = append(turns, turn)
	}
	return turns
}

// checkMasks holds that all drafts but the last are out of the loss.
func checkMasks(t *testing.T, c Conversation) {
	t.Helper()
	for i, m := range c.Messages {
		wrong := len(m.ToolCalls) > 0 && i < len(c.Messages)-3
		if (m.LossMask != nil) != wrong {
			t.Errorf("message %d of %d: in the loss is %v, a wrong draft %v", i, len(c.Messages), m.LossMask == nil, wrong)
		}
	}
}

func TestVerdict(t *testing.T) {
	tests := []struct {
		reply, said string
		matches     bool
	}{
		{"stdout:\n14\nexit status: 0", "Expected:\n14\nGot:\n14\nIt matches.", true},
		{"stdout:\n12\nexit status: 0", "Expected:\n14\nGot:\n12\nIt does not match.", false},
		{"stdout:\n14\nexit status: 1", "Expected:\n14\nGot:\nan error\nIt does not match.", false},
		{"stderr:\nSyntaxError\nexit status: 1", "Expected:\n14\nGot:\nan error\nIt does not match.", false},
		{"no output\nexit status: 0", "Expected:\n14\nGot:\nan error\nIt does not match.", false},
	}
	for _, test := range tests {
		if said, matches := verdict("14", test.reply); said != test.said || matches != test.matches {
			t.Errorf("%q: said %q, %v", test.reply, said, matches)
		}
	}
}

func TestEqualMakersMakeEqualConversations(t *testing.T) {
	m := maker(t)
	tasks := someTasks(t, 3)
	first, err := m.Conversations(context.Background(), tasks)
	if err != nil {
		t.Fatal(err)
	}
	m.Workers = 1
	again, err := m.Conversations(context.Background(), tasks)
	if err != nil {
		t.Fatal(err)
	}
	a, b := mustJSON(t, first), mustJSON(t, again)
	if a != b {
		t.Error("another number of workers made other conversations")
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
