package chat

import (
	"fmt"
	"maps"

	"github.com/ardanlabs/jinja"
)

// templates are a model's compiled chat templates by name: "default", and
// "tool_use" where a model keeps a second one for conversations with tools.
type templates map[string]*jinja.Template

const (
	defaultTemplate = "default"
	toolTemplate    = "tool_use"
)

func compileTemplates(sources map[string]string) (templates, error) {
	compiled := templates{}
	for name, source := range sources {
		t, err := jinja.Compile(normalise(source))
		if err != nil {
			return nil, fmt.Errorf("compile chat template %q: %w", name, err)
		}
		compiled[name] = t
	}
	return compiled, nil
}

// pick chooses as transformers does: tool_use if there are tools and such a
// template, else default.
func (t templates) pick(withTools bool) (*jinja.Template, error) {
	if tool, ok := t[toolTemplate]; ok && withTools {
		return tool, nil
	}
	if d, ok := t[defaultTemplate]; ok {
		return d, nil
	}
	if len(t) == 0 {
		return nil, ErrNoTemplate
	}
	return nil, fmt.Errorf("none of the model's chat templates is named %q", defaultTemplate)
}

// execute renders a template. The engine panics on some mistakes that a
// template can make (a filter without its arguments), so that is an error too.
func execute(t *jinja.Template, variables map[string]jinja.Value) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("render chat template: %v", r)
		}
	}()
	text, err = t.RenderValues(variables)
	if err != nil {
		return "", fmt.Errorf("render chat template: %w", err)
	}
	return text, nil
}

// variables are what transformers' apply_chat_template defines for a template.
func (m *Model) variables(messages, tools jinja.Value, guard rune, o RenderOptions) map[string]jinja.Value {
	vars := map[string]jinja.Value{
		"messages":              messages,
		"tools":                 tools,
		"documents":             jinja.None(),
		"add_generation_prompt": jinja.NewBool(o.AddGenerationPrompt),
		jsonFilter:              jinja.NewCallable(jsonFilter, jsonFilterFunc(guard)),
		stringFilter:            jinja.NewCallable(stringFilter, filterString),
	}
	for name, text := range map[string]string{
		"bos_token": m.tokens.BOS, "eos_token": m.tokens.EOS, "pad_token": m.tokens.PAD, "unk_token": m.tokens.UNK,
	} {
		if text != "" {
			vars[name] = jinja.NewString(text)
		}
	}
	if o.Thinking != nil {
		vars["enable_thinking"] = jinja.NewBool(*o.Thinking)
	}
	maps.Copy(vars, extraValues(o.Extra))
	return vars
}

func extraValues(extra map[string]any) map[string]jinja.Value {
	values := make(map[string]jinja.Value, len(extra))
	for name, v := range extra {
		values[name] = jinja.FromGoValue(v)
	}
	return values
}
