package chat

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ardanlabs/jinja"
)

// Range is the tokens [From, To) of a rendered conversation.
type Range struct {
	From, To int
}

// Turn is where one message lies in a rendered conversation. A token that
// straddles the border of a text counts as part of it, as in transformers'
// assistant masks.
type Turn struct {
	// All is what the template wrote while it was at the message, header and all.
	// Empty where it wrote the message elsewhere, as Qwen's do a first system
	// message. Tool replies that share a turn may share their tokens.
	All Range
	// Own is what the model itself is to write in an assistant's turn: reasoning as
	// far as the template shows it, content, tool calls, and the control token that
	// ends the turn. Never in it: the header, and what else a generation prompt
	// with the same options gives; the white space behind the turn's end.
	Own []Range
	// Lost says that the template drops or changes the message's text. Reasoning is
	// the template's to drop.
	Lost bool
}

// Labelled is a rendered conversation whose tokens are told apart by message.
type Labelled struct {
	Rendered
	Turns []Turn // one a message
}

// Labeller renders whole conversations and finds which tokens show which
// message, in that one rendering. It is safe for concurrent use.
//
// It follows the model's own template, whichever that is: a second copy of it
// is compiled with marks where loops go on to the next message, and rendered
// beside the first. Without its marks the second text must be the first one,
// so that a span is where the template was when it wrote the text, not a guess
// by searching. Within an assistant's span, the header is what a generation
// prompt would give, or what begins an earlier turn too. Where the template has
// generation blocks, those alone say what is the assistant's own.
type Labeller struct {
	model      *Model
	traced     templates
	generation bool              // the template marks the assistant's own text itself
	header     string            // of an assistant's turn
	prompts    map[string]string // the generation prompt by Thinking
}

// LabelError says why a conversation that renders cannot be labelled.
type LabelError struct {
	Index int // of the message, from 0; below zero: the whole conversation
	Err   error
}

func (e *LabelError) Error() string {
	if e.Index < 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("message %d: %v", e.Index, e.Err)
}

func (e *LabelError) Unwrap() error { return e.Err }

var (
	errUntrue    = errors.New("the chat template writes another text when it is followed")
	errScattered = errors.New("the chat template writes the message in several places")
	errUnseen    = errors.New("the chat template does not write the message")
	errHeader    = errors.New("the turn does not begin as an assistant's turns do")
)

// NewLabeller prepares the model's template. A model without one is
// ErrNoTemplate.
func NewLabeller(m *Model) (*Labeller, error) {
	if len(m.sources) == 0 {
		return nil, ErrNoTemplate
	}
	l := &Labeller{model: m, traced: templates{}, prompts: map[string]string{}}
	for name, source := range m.sources {
		text := normaliseTraced(source)
		t, err := jinja.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("compile chat template %q to be followed: %w", name, err)
		}
		l.traced[name] = t
		l.generation = l.generation || strings.Contains(text, generationCall(true))
	}
	return l, l.probe()
}

// probe learns how an assistant's turn begins: with what a generation prompt
// and an earlier turn have in common, or, if the template has no generation
// prompt, with what stands before an earlier turn's content.
func (l *Labeller) probe() error {
	question := Message{Role: "user", Content: "question"}
	for _, thinking := range []*bool{nil, new(false), new(true)} {
		l.prompts[thinkingKey(thinking)] = l.prompt(question, thinking)
	}
	answer := Message{Role: "assistant", Content: probeContent}
	_, _, t, err := l.follow([]Message{question, answer, question}, nil, RenderOptions{})
	if err != nil {
		return fmt.Errorf("follow the chat template: %w", err)
	}
	turn := t.messages[1]
	before, _, ok := strings.Cut(t.text[turn.from:turn.to], probeContent)
	if !ok || turn.scattered {
		return errors.New("the chat template does not show an assistant's content in one place")
	}
	l.header = before
	if prompt := l.prompts[thinkingKey(nil)]; prompt != "" {
		l.header = before[:commonPrefix(before, prompt)]
	}
	return nil
}

// prompt is what the template adds to open an assistant's turn.
func (l *Labeller) prompt(question Message, thinking *bool) string {
	bare, _, err := l.model.renderGuarded([]Message{question}, nil, RenderOptions{Thinking: thinking})
	if err != nil {
		return ""
	}
	open, _, err := l.model.renderGuarded([]Message{question}, nil, RenderOptions{Thinking: thinking, AddGenerationPrompt: true})
	if err != nil {
		return ""
	}
	prompt, _ := strings.CutPrefix(open, bare)
	return prompt
}

func thinkingKey(thinking *bool) string {
	if thinking == nil {
		return ""
	}
	return fmt.Sprint(*thinking)
}

// Render renders a whole conversation as [Model.Render] does and labels its
// tokens. A conversation that cannot be labelled exactly is a *LabelError.
func (l *Labeller) Render(messages []Message, tools []Tool, o RenderOptions) (Labelled, error) {
	o.AddGenerationPrompt = false
	adapted, err := l.model.adapt(messages, tools)
	if err != nil {
		return Labelled{}, err
	}
	b, text, t, err := l.follow(adapted, l.model.visibleTools(tools), o)
	if err != nil {
		return Labelled{}, err
	}
	places := l.model.places(messages, len(adapted))
	own, at, err := l.own(adapted, t, o)
	if err != nil {
		return Labelled{}, &LabelError{slices.Index(places, at), err}
	}
	turns := make([]Turn, len(adapted))
	ids := l.place(turns, own, t, b.guard)
	for i, msg := range adapted {
		turns[i].Lost = b.lost(msg, t.text, t.messages[i])
	}
	out := Labelled{Rendered{unguard(text, b.guard), ids}, make([]Turn, len(messages))}
	for i, at := range places {
		out.Turns[i] = turns[at]
	}
	return out, nil
}

// follow renders with the template and with its traced copy, and checks that
// they write the same text.
func (l *Labeller) follow(messages []Message, tools []Tool, o RenderOptions) (*builder, string, traced, error) {
	plain, err := l.model.templates.pick(len(tools) > 0)
	if err != nil {
		return nil, "", traced{}, err
	}
	marked, err := l.traced.pick(len(tools) > 0)
	if err != nil {
		return nil, "", traced{}, err
	}
	b, err := newBuilder(&l.model.tok.controls, messages, tools)
	if err != nil {
		return nil, "", traced{}, err
	}
	list, schemas, err := b.conversation(messages, tools)
	if err != nil {
		return nil, "", traced{}, err
	}
	variables := l.model.variables(list, schemas, b.guard, o)
	text, err := execute(plain, variables)
	if err != nil {
		return nil, "", traced{}, err
	}
	t, err := runTraced(marked, variables, list, b)
	if err == nil && t.text != text {
		err = errUntrue
	}
	if err != nil {
		return nil, "", traced{}, &LabelError{-1, err}
	}
	return b, text, t, nil
}

// runTraced renders a traced template.
func runTraced(template *jinja.Template, variables map[string]jinja.Value, list jinja.Value, b *builder) (traced, error) {
	mark, ok := freeRune(func(r rune) bool { return b.used[r] || r == b.guard })
	if !ok {
		return traced{}, errNoGuard
	}
	tr := trace{mark: mark, messages: map[*jinja.Dict]int{}}
	for i := range list.AsList().Len() {
		tr.messages[list.AsList().Get(i).AsDict()] = i
	}
	for name, f := range tr.functions() {
		variables[name] = f
	}
	text, err := execute(template, variables)
	if err != nil {
		return traced{}, err
	}
	return tr.read(text, list.AsList().Len())
}

// own finds what is the assistants' own, by message, or the message at which it
// cannot be told.
func (l *Labeller) own(messages []Message, t traced, o RenderOptions) (own [][]part, at int, err error) {
	own = make([][]part, len(messages))
	for i, msg := range messages {
		if msg.Role != "assistant" {
			continue
		}
		switch w := t.messages[i]; {
		case w.scattered:
			err = errScattered
		case l.generation:
			own[i] = within(t.generated, w.part)
		case w.empty():
			err = errUnseen
		default:
			own[i], err = l.ownPart(t.text, w.part, l.prompts[thinkingKey(o.Thinking)])
		}
		if err != nil {
			return nil, i, err
		}
	}
	return own, 0, nil
}

// within are the blocks that lie in a part.
func within(blocks []part, p part) []part {
	return slices.DeleteFunc(slices.Clone(blocks), func(b part) bool { return b.from < p.from || b.to > p.to || b.empty() })
}

// ownPart cuts a turn's header off, and the white space behind its end. No text of
// a conversation spells a header that has a control token: its guards differ.
func (l *Labeller) ownPart(text string, p part, prompt string) ([]part, error) {
	turn := text[p.from:p.to]
	switch {
	case prompt != "" && strings.HasPrefix(turn, prompt):
		p.from += len(prompt)
	case strings.HasPrefix(turn, l.header):
		p.from += len(l.header)
	default:
		// A template may write a system turn of its own before the first message.
		at := strings.Index(turn, l.header)
		if _, control := l.model.tok.controls.find(l.header); at < 0 || control == nil || at != strings.LastIndex(turn, l.header) {
			return nil, errHeader
		}
		p.from += at + len(l.header)
	}
	p.to = p.from + turnEnd(&l.model.tok.controls, text[p.from:p.to])
	if p.empty() {
		return nil, nil
	}
	return []part{p}, nil
}

// turnEnd is the end of the last control token if only white space follows it,
// else the end of all.
func turnEnd(controls *controlSet, text string) int {
	end := len(text)
	for at := 0; ; {
		start, control := controls.find(text[at:])
		if control == nil {
			break
		}
		at += start + len(control.Content)
		if strings.TrimSpace(text[at:]) == "" {
			return at
		}
	}
	return end
}

// place encodes the text and turns its parts into ranges of tokens.
func (l *Labeller) place(turns []Turn, own [][]part, t traced, guard rune) []int32 {
	var cuts []int
	for i, w := range t.messages {
		cuts = append(cuts, w.from, w.to)
		for _, p := range own[i] {
			cuts = append(cuts, p.from, p.to)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	ids, borders := l.model.tok.appendPlaced(nil, t.text, guard, cuts)
	tokens := func(p part) Range {
		from, _ := slices.BinarySearch(cuts, p.from)
		to, _ := slices.BinarySearch(cuts, p.to)
		if p.empty() {
			return Range{borders[from].before, borders[from].before}
		}
		return Range{borders[from].before, borders[to].begun}
	}
	for i, w := range t.messages {
		turns[i].All = tokens(w.part)
		for _, p := range own[i] {
			turns[i].Own = append(turns[i].Own, tokens(p))
		}
	}
	return ids
}
