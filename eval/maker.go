package eval

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// lcbLimit is LiveCodeBench's time limit of a test, for problems that set none.
const lcbLimit = 6 * time.Second

// maker makes samples: first the answer, then its judgement.
type maker struct {
	config   Config
	deps     Deps
	plan     plan
	endpoint agent.Endpoint
}

// draft is a sample that waits for its judgement.
type draft struct {
	record record

	err error // why it could not be made
}

// draft generates a sample, or takes the one that was given.
func (m maker) draft(ctx context.Context, k key) draft {
	if m.deps.Programs != nil {
		return m.given(k)
	}
	started := time.Now()
	opening := agent.Opening{
		Messages: Opening(m.plan.problem(k.id), m.deps.Tools != nil),
		Thinking: m.config.Thinking, Sampling: m.config.Sampling,
	}
	opening.Sampling.Request = fmt.Sprintf("%s/%d", k.id, k.sample)
	ep, err := agent.Run(ctx, m.endpoint, m.deps.Tools, opening, m.config.Budgets)
	d := draft{err: err, record: record{
		Sample: Sample{
			QuestionID: k.id, Index: k.sample, Messages: ep.Messages, Finish: ep.Finish,
			PromptTokens: ep.PromptTokens, CompletionTokens: ep.CompletionTokens, Seed: opening.Sampling.Seed,
		},
		Turns: len(ep.Turns), ToolCalls: ep.ToolCalls, ReplyTokens: ep.ReplyTokens,
		Cut:    ep.Finish == agent.FinishLength || ep.Finish == agent.FinishPromptTooLong,
		Timing: timing{Generate: time.Since(started).Seconds()},
	}}
	d.extract(Extract(m.config.Extract, AnswerOf(ep)))
	return d
}

// given is the draft of a program made elsewhere.
func (m maker) given(k key) draft {
	program := m.plan.programs[k]
	d := draft{record: record{Sample: Sample{QuestionID: k.id, Index: k.sample, Messages: []chat.Message{}}}}
	if program.Field != "completion" {
		d.record.Sample.Code = program.Text
		return d
	}
	d.record.Sample.Messages = []chat.Message{{Role: "assistant", Content: program.Text}}
	d.extract(Extract(m.config.Extract, Answer{Final: program.Text, Transcript: program.Text}))
	return d
}

func (d *draft) extract(e Extraction) {
	d.record.Sample.Code, d.record.Sample.ExtractedBy = e.Code, e.Step
	d.record.Cut = d.record.Cut || e.Unclosed
}

// AnswerOf is the text of a conversation that extraction rules look at.
func AnswerOf(ep agent.Episode) Answer {
	answer := Answer{Final: ep.Final(), Transcript: transcript(ep)}
	if n := len(ep.Turns); n > 0 {
		answer.Opened = ep.Turns[n-1].Opened
	}
	return answer
}

// transcript is what the model wrote and was told after the opening.
func transcript(ep agent.Episode) string {
	var parts []string
	for _, msg := range ep.Messages {
		if msg.Role == "assistant" || msg.Role == "tool" {
			parts = append(parts, msg.Content)
		}
	}
	return strings.Join(parts, "\n")
}

// judge gives a draft its verdict.
func (m maker) judge(ctx context.Context, d draft) outcome {
	s := &d.record.Sample
	s.Tests, d.record.Timing.Tests = []TestLine{}, []testTime{}
	switch {
	case d.err != nil:
		return d.infra(d.err)
	case strings.TrimSpace(s.Code) == "":
		s.Verdict = sandbox.NoCode
		if s.Finish == agent.FinishLength || s.Finish == agent.FinishPromptTooLong {
			s.Verdict = sandbox.Truncated
		}
		return outcome{record: d.record}
	}
	started := time.Now()
	task := TaskOf(m.plan.problem(s.QuestionID), s.Code, m.config.Compare)
	report, err := m.deps.Judge.Judge(ctx, s.Code, task)
	d.record.Timing.Judge = time.Since(started).Seconds()
	if err != nil {
		return d.infra(err)
	}
	s.Verdict, s.Passed = report.Verdict, report.Verdict == sandbox.AC
	for _, t := range report.Tests {
		s.Tests = append(s.Tests, testLine(t, task.Limits))
		d.record.Timing.Tests = append(d.record.Timing.Tests, testTime{Seconds: t.CPU.Seconds(), Memory: t.Memory, Detail: t.Detail})
	}
	return outcome{record: d.record}
}

func (d draft) infra(err error) outcome {
	d.record.Sample.Verdict, d.record.Sample.Error = sandbox.InfraError, err.Error()
	if d.record.Sample.Messages == nil {
		d.record.Sample.Messages = []chat.Message{}
	}
	return outcome{record: d.record, err: fmt.Errorf("sample %d of %s: %w", d.record.Sample.Index, d.record.Sample.QuestionID, err)}
}

// solutionClass finds the class whose method a call may mean.
var solutionClass = regexp.MustCompile(`(?m)^class[ \t]+Solution\b`)

// TaskOf is what a program for a problem is judged on.
func TaskOf(p datasets.Problem, code string, mode judge.Mode) judge.Task {
	task := judge.Task{
		ID: p.ID, Language: "python", Method: p.Method, Tests: p.Tests,
		Mode: mode, Checker: p.Checker, Limits: p.Limits,
	}
	if p.Loose {
		method := p.Functional() && solutionClass.MatchString(code)
		task.Function, task.Plain = !method, !method
	}
	if task.Limits.CPU == 0 {
		task.Limits.CPU = lcbLimit
	}
	return task
}
