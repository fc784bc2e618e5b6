// Package tiny makes what the shipped model is trained on: conversations on
// small tasks ([github.com/coderl/cr/datasets/tinytasks]) in the very words of
// cr eval, with the code tool's real replies, every answer judged.
//
// Beside it lie the model's tokenizer and chat template, and the script that
// trained the tokenizer.
package tiny

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"

	"github.com/coderl/cr/datasets/tinytasks"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// Maker makes conversations. Equal makers make equal ones of equal tasks,
// whatever Workers is.
type Maker struct {
	Tool  agent.Interpreter
	Judge *judge.Judge
	// WrongShare is the share of conversations that begin with a wrong draft;
	// the same share of those has two.
	WrongShare float64
	Seed       uint64
	Workers    int // tasks at a time
}

// Conversation is one training example: a line of the JSONL that cr train sft
// reads.
type Conversation struct {
	Messages []Message   `json:"messages"`
	Tools    []chat.Tool `json:"tools"`
}

// Message is a turn. LossMask 0 takes an assistant's turn out of the loss.
type Message struct {
	Role      string     `json:"role"`
	Content   string     `json:"content"`
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	LossMask  *int       `json:"loss_mask,omitempty"`
}

// ToolCall is a call in the form of OpenAI's API, but its arguments an object.
type ToolCall struct {
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function is what is called.
type Function struct {
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments"`
}

// Conversations makes a conversation on each sample of each task, in order.
func (m *Maker) Conversations(ctx context.Context, tasks []tinytasks.Task) ([]Conversation, error) {
	made := make([][]Conversation, len(tasks))
	err := m.each(ctx, tasks, func(ctx context.Context, i int) error {
		rng := rand.New(rand.NewPCG(m.Seed, uint64(i)))
		for sample := range tasks[i].Samples {
			c, err := m.converse(ctx, rng, tasks[i].Told(sample))
			if err != nil {
				return err
			}
			made[i] = append(made[i], c)
		}
		return m.accepts(ctx, tasks[i])
	})
	var all []Conversation
	for _, some := range made {
		all = append(all, some...)
	}
	return all, err
}

// Check judges the right program and the wrong ones of every task.
func (m *Maker) Check(ctx context.Context, tasks []tinytasks.Task) error {
	return m.each(ctx, tasks, func(ctx context.Context, i int) error {
		if err := m.accepts(ctx, tasks[i]); err != nil {
			return err
		}
		for _, v := range tasks[i].Wrong {
			verdict, err := m.judge(ctx, tasks[i], v.Recipe.Program())
			if err == nil && verdict == sandbox.AC {
				err = fmt.Errorf("a wrong program (%s) is accepted:\n%s", v.How, v.Recipe.Program())
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// each calls do for every task, Workers at a time, until one fails.
func (m *Maker) each(ctx context.Context, tasks []tinytasks.Task, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for worker := range m.Workers {
		wg.Go(func() {
			for i := worker; i < len(tasks) && ctx.Err() == nil; i += m.Workers {
				if err := do(ctx, i); err != nil {
					cancel(fmt.Errorf("task %s: %w", tasks[i].ID, err))
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

var errNotAccepted = errors.New("the right program is not accepted")

// accepts judges the task's own program.
func (m *Maker) accepts(ctx context.Context, t tinytasks.Task) error {
	verdict, err := m.judge(ctx, t, t.Recipe.Program())
	if err == nil && verdict != sandbox.AC {
		err = fmt.Errorf("%w: %s", errNotAccepted, verdict)
	}
	return err
}

func (m *Maker) judge(ctx context.Context, t tinytasks.Task, code string) (sandbox.Verdict, error) {
	task := judge.Task{ID: t.ID, Language: "python", Method: t.Method, Mode: judge.Strict}
	for _, test := range t.Tests() {
		task.Tests = append(task.Tests, judge.Test{Input: test.Input, Output: test.Output})
	}
	report, err := m.Judge.Judge(ctx, code, task)
	return report.Verdict, err
}

// WriteJSONL writes conversations as cr train sft reads them.
func WriteJSONL(w io.Writer, conversations []Conversation) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, c := range conversations {
		if err := enc.Encode(c); err != nil {
			return fmt.Errorf("write conversations: %w", err)
		}
	}
	return nil
}
