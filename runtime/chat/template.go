package chat

import (
	"fmt"
	"maps"
	"strings"

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
		t, err := jinja.Compile(renameFilter(source, "tojson", jsonFilter))
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

// renameFilter renames a filter wherever a template applies it (|name), so
// that our version is found instead of the engine's own. Text outside of tags,
// comments and string literals stay as they are.
func renameFilter(source, from, to string) string {
	var out strings.Builder
	for source != "" {
		open := tagStart(source)
		if open < 0 {
			break
		}
		end := open + tagLength(source[open:])
		out.WriteString(source[:open])
		out.WriteString(renameInTag(source[open:end], from, to))
		source = source[end:]
	}
	out.WriteString(source)
	return out.String()
}

// tagStart finds the next {{, {% or {#.
func tagStart(source string) int {
	for i := 0; i+1 < len(source); i++ {
		if source[i] == '{' && strings.IndexByte("{%#", source[i+1]) >= 0 {
			return i
		}
	}
	return -1
}

// tagLength is the length of the tag that source begins with, its end mark
// included; end marks inside string literals do not count.
func tagLength(source string) int {
	comment := source[1] == '#'
	end := map[byte]string{'{': "}}", '%': "%}", '#': "#}"}[source[1]]
	for i := 2; i < len(source); {
		switch {
		case strings.HasPrefix(source[i:], end):
			return i + len(end)
		case !comment && (source[i] == '\'' || source[i] == '"'):
			i += literalLength(source[i:])
		default:
			i++
		}
	}
	return len(source)
}

// literalLength is the length of the string literal that source begins with.
func literalLength(source string) int {
	for i := 1; i < len(source); i++ {
		switch source[i] {
		case '\\':
			i++
		case source[0]:
			return i + 1
		}
	}
	return len(source)
}

func renameInTag(tag, from, to string) string {
	if tag[1] == '#' || !strings.Contains(tag, from) {
		return tag
	}
	var out strings.Builder
	piped := false // the last thing but white space was a |
	for i := 0; i < len(tag); {
		n := 1
		switch c := tag[i]; {
		case c == '\'' || c == '"':
			n = literalLength(tag[i:])
		case wordByte(c):
			n = wordLength(tag[i:])
		}
		word := tag[i : i+n]
		if piped && word == from {
			word = to
		}
		out.WriteString(word)
		if strings.TrimSpace(word) != "" {
			piped = word == "|"
		}
		i += n
	}
	return out.String()
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func wordLength(s string) int {
	n := 0
	for n < len(s) && wordByte(s[n]) {
		n++
	}
	return n
}
