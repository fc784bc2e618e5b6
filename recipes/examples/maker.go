package examples

import (
	"errors"
	"fmt"
	"slices"

	"github.com/coderl/cr/datasets/sft"
	"github.com/coderl/cr/runtime/chat"
)

// Maker turns rows into examples. It is safe for concurrent use.
type Maker struct {
	model    *chat.Model
	labeller *chat.Labeller
	options  Options
}

// NewMaker prepares a model's template. A model without one is
// [chat.ErrNoTemplate].
func NewMaker(model *chat.Model, o Options) (*Maker, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	labeller, err := chat.NewLabeller(model)
	if err != nil {
		return nil, err
	}
	return &Maker{model, labeller, o}, nil
}

// Make turns one row into an example, of any length. A row that is none is a
// *[RowError]. altered says that the template drops or changes text of the
// conversation: the example is what the template makes of it. No error and no
// trained token is possible.
func (m *Maker) Make(row sft.Row) (e Example, altered error, err error) {
	fail := func(reason Reason, err error) (Example, error, error) {
		return Example{}, nil, &RowError{row.Name(), reason, err}
	}
	c, err := parse(row)
	if errors.Is(err, chat.ErrUnnamedCall) {
		return fail(BrokenCall, err)
	}
	if err != nil {
		return fail(NoConversation, err)
	}
	if m.options.Thinking == ThinkingStrip {
		c.messages = stripped(c.messages)
	}
	labelled, err := m.labeller.Render(c.messages, c.tools, chat.RenderOptions{Thinking: c.thinking})
	if errors.As(err, new(*chat.MessageError)) {
		return fail(BrokenCall, err)
	}
	if err != nil {
		return fail(Template, err)
	}
	if err := m.checkThinking(c.messages, labelled); err != nil {
		return fail(ThinkingLost, err)
	}
	trained, err := m.trained(c, labelled)
	if err != nil {
		return fail(Template, err)
	}
	for i, turn := range labelled.Turns {
		if turn.Lost {
			altered = &RowError{row.Name(), TextLost, fmt.Errorf("message %d: the chat template drops or changes its text", i)}
			break
		}
	}
	return Example{Name: row.Name(), IDs: labelled.IDs, Trained: trained}, altered, nil
}

// trained puts together what is learnt of each message.
func (m *Maker) trained(c conversation, l chat.Labelled) ([]Span, error) {
	var spans []Span
	for i, turn := range l.Turns {
		weight := c.weights[i]
		switch {
		case weight != nil && !*weight:
		case c.messages[i].Role == "assistant":
			spans = append(spans, m.ownSpans(turn)...)
		case weight != nil && turn.All.From == turn.All.To:
			return nil, fmt.Errorf("message %d: it has a loss_mask, but the chat template writes it among others", i)
		case weight != nil:
			spans = append(spans, Span(turn.All))
		}
	}
	return merged(spans), nil
}

// ownSpans are an assistant's own tokens.
func (m *Maker) ownSpans(turn chat.Turn) []Span {
	spans := make([]Span, len(turn.Own))
	for i, r := range turn.Own {
		spans[i] = Span(r)
	}
	if m.options.Mask == MaskVerl && len(spans) > 0 {
		spans[len(spans)-1].To = turn.All.To
	}
	return spans
}

// merged sorts spans and joins those that touch or overlap; the first token is
// left out.
func merged(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return a.From - b.From })
	var out []Span
	for _, s := range spans {
		s.From = max(s.From, 1)
		switch last := len(out) - 1; {
		case s.From >= s.To:
		case last >= 0 && s.From <= out[last].To:
			out[last].To = max(out[last].To, s.To)
		default:
			out = append(out, s)
		}
	}
	return out
}
