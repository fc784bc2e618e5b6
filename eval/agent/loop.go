package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/coderl/cr/runtime/chat"
)

// Run plays one conversation to its end: the model writes a turn, the tool
// calls in it run in order, their replies go back, until a turn calls no tool
// or a budget ends. tools may be nil.
//
// Calls are read from the answer part of a turn only: what stands in the
// thinking is the model talking to itself (see [chat.SplitThinking]). A turn
// that the budget cut never runs its calls, as the last of them may be half a
// program. A call that cannot be run is answered with an error for the model.
//
// An error means that the sample could not be finished (endpoint or sandbox);
// the Episode returned beside it holds what was done until then.
func Run(ctx context.Context, ep Endpoint, tools Toolbox, opening Opening, budgets Budgets) (Episode, error) {
	if tools != nil {
		opening.Tools = tools.Tools()
	}
	l := loop{tools: tools, budgets: budgets}
	l.ep.Messages = slices.Clone(opening.Messages)
	conv, err := ep.Start(ctx, opening)
	if errors.Is(err, ErrPromptTooLong) {
		l.ep.Finish = FinishPromptTooLong
		return l.ep, nil
	}
	if err != nil {
		return l.ep, fmt.Errorf("start conversation: %w", err)
	}
	defer conv.Close()
	l.conv = conv
	for l.ep.Finish == "" {
		if err := l.step(ctx); err != nil {
			return l.ep, fmt.Errorf("turn %d: %w", len(l.ep.Turns), err)
		}
	}
	l.ep.PromptTokens = conv.PromptTokens()
	return l.ep, nil
}

// loop is the state of one conversation.
type loop struct {
	conv    Conversation
	tools   Toolbox
	budgets Budgets
	ep      Episode
	calls   int  // calls seen, run or not; numbers their ids
	warned  bool // the model was told that its tool budget is spent
}

// left is what remains of the response budget.
func (l *loop) left() int {
	return l.budgets.Tokens - l.ep.CompletionTokens - l.ep.ReplyTokens
}

// step plays one assistant turn and, unless the conversation ends with it, the
// tool calls in it. It sets ep.Finish when the conversation is over.
func (l *loop) step(ctx context.Context) error {
	turn, err := l.conv.Next(ctx, l.left())
	l.ep.ReplyTokens += turn.ReplyTokens
	switch {
	case errors.Is(err, ErrPromptTooLong): // a server finds out only now
		l.ep.Finish = FinishPromptTooLong
		return nil
	case errors.Is(err, ErrContextFull):
		l.ep.Finish = FinishLength
		return nil
	case err != nil:
		return err
	}
	l.ep.Turns = append(l.ep.Turns, turn)
	l.ep.CompletionTokens += turn.Tokens
	calls := l.callsOf(turn)
	l.ep.Messages = append(l.ep.Messages, assistantMessage(turn, calls))
	switch {
	case turn.Finish == "length" || l.left() < 0:
		l.ep.Finish = FinishLength
	case len(calls) == 0:
		l.ep.Finish = FinishStop
	case l.left() == 0:
		l.ep.Finish = FinishLength
	case len(l.ep.Turns) >= l.budgets.Turns:
		l.ep.Finish = FinishMaxTurns
	case l.warned:
		l.ep.Finish = FinishToolBudget
	default:
		return l.answer(ctx, calls)
	}
	return nil
}

// callsOf lists a turn's calls, good and bad, and numbers them: ids of ours
// make a rerun's transcript equal, whatever ids a server invents.
func (l *loop) callsOf(turn Turn) []chat.ParsedCall {
	if l.tools == nil {
		return nil
	}
	var calls []chat.ParsedCall
	if turn.Native != nil {
		for _, c := range turn.Native {
			parsed := chat.ParsedCall{Call: c}
			if c.Name == "" {
				parsed.Err = errors.New("it has no name")
			}
			calls = append(calls, parsed)
		}
	} else {
		_, answer, _ := chat.SplitThinking(turn.Text, turn.Opened)
		_, calls = chat.ParseToolCalls(answer)
	}
	if most := l.budgets.PerTurn; most > 0 {
		calls = calls[:min(len(calls), most)]
	}
	for i := range calls {
		l.calls++
		calls[i].Call.ID = callID(l.calls)
	}
	return calls
}

// callID names the n-th call of a conversation, counted from 1.
func callID(n int) string { return fmt.Sprintf("call_%d", n) }

func assistantMessage(turn Turn, calls []chat.ParsedCall) chat.Message {
	m := chat.Message{Role: "assistant", Content: turn.Text}
	for _, c := range calls {
		if c.Err == nil {
			m.ToolCalls = append(m.ToolCalls, c.Call)
		}
	}
	return m
}

// answer runs the calls in order and gives the model their replies.
func (l *loop) answer(ctx context.Context, calls []chat.ParsedCall) error {
	l.conv.Wait()
	results := make([]chat.Message, 0, len(calls))
	for _, c := range calls {
		text, err := l.runCall(ctx, c)
		if err != nil {
			return err
		}
		results = append(results, chat.Message{
			Role: "tool", Content: Clip(text, l.budgets.ToolOutput),
			ToolCallID: c.Call.ID, Name: c.Call.Name,
		})
	}
	tokens, err := l.conv.Reply(ctx, results)
	l.ep.Messages = append(l.ep.Messages, results...)
	l.ep.ReplyTokens += tokens
	if errors.Is(err, ErrContextFull) {
		l.ep.Finish = FinishLength
		return nil
	}
	if err != nil {
		return fmt.Errorf("give tool replies: %w", err)
	}
	if l.left() <= 0 {
		l.ep.Finish = FinishLength
	}
	return nil
}

// runCall runs one call, or says to the model why it did not.
func (l *loop) runCall(ctx context.Context, c chat.ParsedCall) (string, error) {
	if c.Err != nil {
		return fmt.Sprintf("Error: this tool call could not be read: %v. Nothing was run.", c.Err), nil
	}
	limit := min(l.budgets.ToolCall, l.budgets.ToolTotal-l.ep.ToolTime)
	if limit <= 0 || l.ep.ToolCalls >= l.budgets.Calls {
		l.warned = true
		return "Error: the tool budget of this conversation is spent. Nothing was run. Answer now, without tools.", nil
	}
	reply, err := l.tools.Call(ctx, c.Call, limit)
	if err != nil {
		return "", fmt.Errorf("tool %s: %w", c.Call.Name, err)
	}
	l.ep.ToolCalls++
	l.ep.ToolTime += reply.Charge
	return reply.Text, nil
}
