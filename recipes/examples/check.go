package examples

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/coderl/cr/datasets/sft"
	"github.com/coderl/cr/runtime/chat"
)

// Finding is something that is wrong with a row.
type Finding struct {
	Row    string `json:"row"` // "FILE: row 3"
	Reason Reason `json:"reason"`
	Detail string `json:"detail"`
}

// Checked is what a check saw.
type Checked struct {
	Rows     int            `json:"rows"`
	Fine     int            `json:"fine"`     // rows without a finding
	Problems map[Reason]int `json:"problems"` // rows by what is wrong with them; a row may have several
	Tokens   int64          `json:"tokens"`
	Targets  int64          `json:"targets"`
	Longest  int            `json:"longest"`
}

// Check looks at all rows as Load would, stops at none, and gives what it finds
// to found, in the rows' order. Unlike Load it looks at the turns' order too, and
// at tool calls that an assistant's text spells.
func Check(ctx context.Context, files []string, model *chat.Model, o Options, found func(Finding)) (Checked, error) {
	m, err := NewMaker(model, o)
	if err != nil {
		return Checked{}, err
	}
	sum := Checked{Problems: map[Reason]int{}}
	type looked struct {
		tokens, targets int
		findings        []Finding
	}
	look := func(row sft.Row) looked {
		e, findings := m.Look(row)
		return looked{len(e.IDs), e.Targets(), findings}
	}
	err = each(ctx, files, m.options, look, func(l looked) error {
		sum.Rows++
		if len(l.findings) == 0 {
			sum.Fine++
		}
		seen := map[Reason]bool{}
		for _, f := range l.findings {
			if !seen[f.Reason] {
				sum.Problems[f.Reason]++
			}
			seen[f.Reason] = true
			found(f)
		}
		sum.Tokens += int64(l.tokens)
		sum.Targets += int64(l.targets)
		sum.Longest = max(sum.Longest, l.tokens)
		if m.options.Progress != nil {
			m.options.Progress(sum.Rows, sum.Rows-sum.Fine)
		}
		return nil
	})
	return sum, err
}

// Look makes a row's example, as far as it can be made, and says all that is
// wrong with the row.
func (m *Maker) Look(row sft.Row) (Example, []Finding) {
	var findings []Finding
	add := func(reason Reason, err error) {
		if err != nil {
			findings = append(findings, Finding{row.Name(), reason, err.Error()})
		}
	}
	if c, err := parse(row); err == nil {
		add(RoleOrder, checkOrder(c.messages))
		add(BrokenCall, checkSpelledCalls(c.messages))
	}
	e, altered, err := m.Make(row)
	for _, err := range []error{err, altered} {
		var fault *RowError
		if errors.As(err, &fault) {
			add(fault.Reason, fault.Err)
		}
	}
	if err != nil {
		return e, findings
	}
	if limit := m.options.MaxLength; limit > 0 && len(e.IDs) > limit {
		add(OverLong, fmt.Errorf("%d tokens, more than %d", len(e.IDs), limit))
	}
	if len(e.Trained) == 0 {
		add(Untrained, errors.New("no token is trained"))
	}
	return e, findings
}

// checkOrder finds the first turn that does not follow the one before it: a
// system message may come first, then the user's and the assistant's turns
// alternate, and tool replies follow an assistant that called a tool.
func checkOrder(messages []chat.Message) error {
	before := chat.Message{Role: "nothing"}
	for i, msg := range messages {
		var fits bool
		switch msg.Role {
		case "system", "developer":
			fits = i == 0
		case "user":
			fits = before.Role != "user" && before.Role != "tool" && !calls(before)
		case "assistant":
			fits = before.Role == "user" || before.Role == "tool"
		case "tool":
			fits = before.Role == "tool" || calls(before)
		}
		if !fits {
			return fmt.Errorf("message %d: %s after %s", i, msg.Role, described(before))
		}
		before = msg
	}
	if before.Role != "assistant" {
		return fmt.Errorf("message %d: the last one is not the assistant's", len(messages)-1)
	}
	if calls(before) {
		return fmt.Errorf("message %d: the last one calls a tool that does not answer", len(messages)-1)
	}
	return nil
}

func described(msg chat.Message) string {
	if calls(msg) {
		return msg.Role + " that calls a tool"
	}
	return msg.Role
}

// calls says whether an assistant calls a tool, by field or in its text.
func calls(msg chat.Message) bool {
	return msg.Role == "assistant" && (len(msg.ToolCalls) > 0 || len(spelledCalls(msg)) > 0)
}

// spelledCalls are the tool calls that an assistant's answer spells.
func spelledCalls(msg chat.Message) []chat.ParsedCall {
	if msg.Role != "assistant" || !strings.Contains(msg.Content, "<tool_call>") {
		return nil
	}
	answer := msg.Content
	if msg.Reasoning == "" && !msg.NoReasoning {
		_, answer, _ = chat.SplitThinking(msg.Content, false)
	}
	_, found := chat.ParseToolCalls(answer)
	return found
}

func checkSpelledCalls(messages []chat.Message) error {
	for i, msg := range messages {
		for _, call := range spelledCalls(msg) {
			if call.Err != nil {
				return fmt.Errorf("message %d: a tool call in its text: %w", i, call.Err)
			}
		}
	}
	return nil
}
