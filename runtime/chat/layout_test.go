package chat

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What pieces of template text give in transformers; see testdata/goldens.py.
func TestTemplateFeatures(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "features.json"))
	if err != nil {
		t.Fatal(err)
	}
	var features []struct{ Template, Text string }
	if err := json.Unmarshal(data, &features); err != nil {
		t.Fatal(err)
	}
	for _, f := range features {
		compiled, err := compileTemplates(map[string]string{defaultTemplate: f.Template})
		if err != nil {
			t.Errorf("%q: %v", f.Template, err)
			continue
		}
		m := Model{tok: &tokenizer{}, templates: compiled, tokens: SpecialTokens{BOS: "<s>"}}
		got, _, err := m.renderGuarded([]Message{user("Hello\n"), said("Hi é")}, nil, RenderOptions{})
		if err != nil {
			t.Errorf("%q: %v", f.Template, err)
		} else if got != f.Text {
			t.Errorf("%q\n got %q\nwant %q", f.Template, got, f.Text)
		}
	}
}

// No template text makes compiling panic, and text without tags is text.
func FuzzCompile(f *testing.F) {
	f.Add("a {%- for x in y -%} {% set z = 'a\\'' %} {{ x | tojson }} {%+ endfor %}\n{# c")
	f.Add("{% raw %}{%- endraw -%}{{}}{%%}{{ '\\x4")
	f.Fuzz(func(t *testing.T, source string) {
		compiled, err := compileTemplates(map[string]string{defaultTemplate: source})
		if err != nil || tagStart(source) >= 0 {
			return
		}
		text, err := execute(compiled[defaultTemplate], nil)
		want := strings.TrimSuffix(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source), "\n")
		if err != nil || text != want {
			t.Errorf("%q became %q, %v", source, text, err)
		}
	})
}
