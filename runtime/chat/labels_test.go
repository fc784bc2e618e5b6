package chat

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// labeller follows a template with tiny's tokenizer.
func labeller(t testing.TB, template string) *Labeller {
	t.Helper()
	m := *tiny(t)
	sources := map[string]string{defaultTemplate: template}
	compiled, err := compileTemplates(sources)
	if err != nil {
		t.Fatal(err)
	}
	m.sources, m.templates = sources, compiled
	m.traits = m.probe()
	l, err := NewLabeller(&m)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// ownTexts is what a turn's own tokens spell.
func ownTexts(l *Labeller, got Labelled, i int) string {
	var texts []string
	for _, r := range got.Turns[i].Own {
		texts = append(texts, l.model.Decode(got.IDs[r.From:r.To], true))
	}
	return strings.Join(texts, " + ")
}

const chatML = `{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}`

// Templates in the manners of several families; conversation is system, user,
// "one", user, "two".
func TestOwnTextOfManyTemplates(t *testing.T) {
	conversation := []Message{{Role: "system", Content: "rule"}, user("a"), said("one"), user("b"), said("two")}
	for name, c := range map[string]struct{ template, first, last string }{
		"ChatML":    {chatML + `{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`, "one<|im_end|>", "two<|im_end|>"},
		"no prompt": {chatML, "one<|im_end|>", "two<|im_end|>"},
		"the system turn apart, messages cut": {`{% if messages[0].role == 'system' %}{% set sys = messages[0].content %}{% set messages = messages[1:] %}{% else %}{% set sys = '' %}{% endif %}` +
			`{{ '<|im_start|>system<|im_end|>\n\n' + sys + '<|im_end|>' }}{% for m in messages %}{{ '<|im_start|>' + m.role + '<|im_end|>\n\n' + m.content | trim + '<|im_end|>' }}{% endfor %}` +
			`{% if add_generation_prompt %}{{ '<|im_start|>assistant<|im_end|>\n\n' }}{% endif %}`, "one<|im_end|>", "two<|im_end|>"},
		"no header": {
			`{% for m in messages %}{% if m.role == 'assistant' %}{{ ' ' + m.content + '<|endoftext|>' }}{% else %}{{ '[INST] ' + m.content + ' [/INST]' }}{% endif %}{% endfor %}`,
			"one<|endoftext|>", "two<|endoftext|>",
		},
		"no end":  {`{% for m in messages %}{{ m.role + ': ' + m.content + '\n' }}{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}`, " one\n", " two\n"},
		"a macro": {`{% macro turn(m) %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endmacro %}{% for m in messages %}{{ turn(m) }}{% endfor %}`, "one<|im_end|>", "two<|im_end|>"},
		"a loop within the loop": {`{% for m in messages %}{% set ns = namespace(n=0) %}{% for o in messages %}{% if o.role == 'user' %}{% set ns.n = ns.n + 1 %}{% continue %}{% endif %}{% endfor %}` +
			`{{ '<|im_start|>' + m.role + '\n' }}{% for o in messages %}{% if o.role == 'user' %}{% break %}{% endif %}{% endfor %}{{ m.content }}<|im_end|>` + "\n\n" + `{% endfor %}`, "one<|im_end|>", "two<|im_end|>"},
		"pairs": {`{% for m in messages %}{% if loop.index0 % 2 == 0 and not loop.first %}{% continue %}{% endif %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>' }}` +
			`{% for n in messages[loop.index:loop.index + 1] %}{% if n.role == 'assistant' %}{{ '<|im_start|>assistant\n' + n.content + '<|im_end|>' }}{% endif %}{% endfor %}{% endfor %}`, "one<|im_end|>", "two<|im_end|>"},
		"a prompt that thinks": {`{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}{% if loop.last and m.role == 'assistant' %}{{ '<think>\n\n</think>\n' }}{% endif %}{{ m.content + '<|im_end|>\n' }}{% endfor %}` +
			`{% if add_generation_prompt %}{{ '<|im_start|>assistant\n<think>\n' }}{% endif %}`, "one<|im_end|>", "\n\n</think>\ntwo<|im_end|>"}, // one token for both newlines: it straddles
		"generation blocks": {
			`{% for m in messages %}<|im_start|>{{ m.role }} {% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}, {% generation %}<|im_end|>{% endgeneration %}{% else %}{{ m.content }}<|im_end|>{% endif %}{% endfor %}`,
			"one + <|im_end|>", "two + <|im_end|>",
		},
	} {
		l := labeller(t, c.template)
		got, err := l.Render(conversation, nil, RenderOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		plain, err := l.model.Render(conversation, nil, RenderOptions{})
		if err != nil || !slices.Equal(plain.IDs, got.IDs) || plain.Text != got.Text {
			t.Errorf("%s: labelling changes the rendering: %q, %q, %v", name, got.Text, plain.Text, err)
		}
		if first, last := ownTexts(l, got, 2), ownTexts(l, got, 4); first != c.first && first != " "+c.first || last != c.last && last != " "+c.last {
			t.Errorf("%s: own %q and %q, want %q and %q\nof %q", name, first, last, c.first, c.last, got.Text)
		}
		for i := range 2 {
			if len(got.Turns[i].Own) > 0 || got.Turns[i].Lost {
				t.Errorf("%s: message %d: %+v", name, i, got.Turns[i])
			}
		}
	}
}

// A system turn that the template writes by itself, while at the first message,
// is nobody's.
func TestOwnTextBehindTheTemplatesOwnSystemTurn(t *testing.T) {
	l := labeller(t, `{% for m in messages %}{% if loop.first and m.role != 'system' %}{{ '<|im_start|>system\nrule<|im_end|>\n' }}{% endif %}`+
		`{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`)
	got, err := l.Render([]Message{said("<|im_start|>assistant\none"), user("a"), said("two")}, nil, RenderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if first, last := ownTexts(l, got, 0), ownTexts(l, got, 2); first != "<|im_start|>assistant\none<|im_end|>" || last != "two<|im_end|>" {
		t.Errorf("own %q and %q of %q", first, last, got.Text)
	}
}

func calling(name, arguments string) ToolCall {
	return ToolCall{Name: name, Arguments: []byte(arguments)}
}

// What cannot be told exactly is refused, with the message where it is one's.
func TestTemplatesThatCannotBeFollowed(t *testing.T) {
	for name, c := range map[string]struct {
		template string
		want     error
		index    int
	}{
		"written twice":         {`{% for m in messages %}{{ m.role }}{{ m.content }}{% endfor %}{% if messages[0].content == 'a' %}|{% for m in messages %}{{ m.content }}{% endfor %}{% endif %}`, errScattered, 1},
		"not written":           {`{% for m in messages %}{% if m.content != 'hidden' %}{{ m.role }}{{ m.content }}{% endif %}{% endfor %}`, errUnseen, 1},
		"header only sometimes": {`{% for m in messages %}{% if m.content == 'hidden' %}!{% endif %}{{ '<|im_start|>' + m.role if m.content != 'hidden' else '' }}{{ m.content }}<|im_end|>{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant' }}{% endif %}`, errHeader, 1},
		"trimmed afterwards":    {`{% set x %}{% for m in messages %}{{ m.role + m.content }} {% endfor %}{% endset %}{{ (x | trim) if messages[0].content == 'a' else x }}`, errUntrue, -1},
		"changed afterwards":    {`{% set x %}{% for m in messages %}{{ m.role + m.content }}{% endfor %}{% endset %}{{ (x | upper) if messages[0].content == 'a' else x }}`, errTrace, -1},
	} {
		l := labeller(t, c.template)
		_, err := l.Render([]Message{user("a"), said("hidden")}, nil, RenderOptions{})
		var label *LabelError
		if !errors.As(err, &label) || !errors.Is(err, c.want) || label.Index != c.index {
			t.Errorf("%s: %v, want %v at message %d", name, err, c.want, c.index)
		}
	}
}

// Tool replies that share a turn, and a system turn that is put before all, do
// not move other messages' labels.
func TestLabelsOfAdaptedConversations(t *testing.T) {
	l := labeller(t, chatML)
	messages := []Message{user("go"), said("x", calling("f", `{"a": 1}`)), reply("r1"), reply("r2"), said("done")}
	got, err := l.Render(messages, []Tool{Tool(`{"type": "function", "function": {"name": "f"}}`)}, RenderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"", "x\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call><|im_end|>", "", "", "done<|im_end|>"}
	for i := range messages {
		if own := ownTexts(l, got, i); own != want[i] {
			t.Errorf("message %d: own %q, want %q", i, own, want[i])
		}
	}
	if got.Turns[2].All != got.Turns[3].All {
		t.Errorf("replies at %v and %v, want one turn", got.Turns[2].All, got.Turns[3].All)
	}
}

func TestLostText(t *testing.T) {
	l := labeller(t, `{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}{% if m.role == 'tool' %}{{ m.content | tojson }}{% elif m.role == 'user' %}{{ m.content[:5] }}`+
		`{% else %}{{ m.content.split('</think>')[-1].strip() }}{% for c in m.tool_calls or [] %}{{ c.function.name if c.function.name != 'g' }}{{ c.function.arguments }}{% endfor %}{% endif %}<|im_end|>{% endfor %}`)
	messages := []Message{user("abc"), user("abcdefg"), said("<think>\nx\n</think>\n\ny"), said("a</think>b</think>c"), said(" \n"), reply("a\n\"é\" <|im_end|>"), said("", calling("f", "{}")), said("", calling("g", "{}"))}
	got, err := l.Render(messages, nil, RenderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, true, false, true, false, false, false, true} {
		if got.Turns[i].Lost != want {
			t.Errorf("message %d: lost %v, want %v\n%q", i, got.Turns[i].Lost, want, got.Text)
		}
	}
}

// Placing cuts never changes the ids, and borders enclose their cut: what lies
// before and behind it, decoded, is the text on its two sides but for a token
// that straddles it.
func FuzzPlacedCuts(f *testing.F) {
	f.Add("assistant\n\n\nhello", 10)
	f.Add("e\u0301\u0301 x<|im_end|>\n", 1)
	f.Add("a\u0301", 1)
	f.Add("<|im_start|>\x00é", 13)
	m := tiny(f)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		text = validText(text)
		if cut < 0 || cut > len(text) || cut < len(text) && !utf8.RuneStart(text[cut]) {
			return
		}
		ids, borders := m.tok.appendPlaced(nil, text, 0, []int{0, cut, len(text)})
		if want := m.EncodeTemplate(text); !slices.Equal(ids, want) {
			t.Fatalf("ids %v, want %v", ids, want)
		}
		b := borders[1]
		if borders[0] != (border{}) || borders[2] != (border{len(ids), len(ids)}) || b.before > b.begun || b.begun > len(ids) {
			t.Fatalf("borders %v of %d tokens", borders, len(ids))
		}
		if joined := m.tok.join(ids); joined != text {
			return // the normaliser changed it
		}
		if before, begun := m.tok.join(ids[:b.before]), m.tok.join(ids[:b.begun]); len(before) > cut || len(begun) < cut || b.begun > b.before+1 {
			t.Errorf("cut %d of %q: %q, %q", cut, text, before, begun)
		}
	})
}
