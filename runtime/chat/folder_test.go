package chat

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder writes a model folder from tiny's tokenizer and the given files; a
// file without text is left out.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	data, err := os.ReadFile(filepath.Join("testdata", "tiny", "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"tokenizer.json": string(data)}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		if text == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestWhereTemplatesComeFrom(t *testing.T) {
	tool := `{{ 'tools: ' ~ (tools | length) }}`
	tests := []struct {
		name  string
		files map[string]string
		tools []Tool
		want  string
	}{
		{"config", map[string]string{"tokenizer_config.json": `{"chat_template": "config"}`}, nil, "config"},
		{"jinja file first", map[string]string{"tokenizer_config.json": `{"chat_template": "config"}`, "chat_template.jinja": "file\n"}, nil, "file"},
		{"json file last", map[string]string{"tokenizer_config.json": `{"chat_template": null}`, "chat_template.json": `{"chat_template": "json"}`}, nil, "json"},
		{"named, without tools", map[string]string{"tokenizer_config.json": named("a", tool)}, nil, "a"},
		{"named, with tools", map[string]string{"tokenizer_config.json": named("a", tool)}, []Tool{zed}, "tools: 1"},
		{"jinja files, with tools", map[string]string{"chat_template.jinja": "file", "additional_chat_templates/tool_use.jinja": tool}, []Tool{zed}, "tools: 1"},
		{"token as object", map[string]string{"tokenizer_config.json": `{"bos_token": {"content": "<|endoftext|>"}, "chat_template": "{{ bos_token }}{{ eos_token is defined }}"}`}, nil, "<|endoftext|>False"},
		{"token from the map", map[string]string{"special_tokens_map.json": `{"eos_token": "<|im_end|>"}`, "chat_template.jinja": "{{ eos_token }}"}, nil, "<|im_end|>"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := loadFolder(t, folder(t, test.files))
			m.traits.tools = true // these templates would not pass for ones that know tools
			got, err := m.Render([]Message{user("x")}, test.tools, RenderOptions{})
			if err != nil || got.Text != test.want {
				t.Errorf("got %q, %v; want %q", got.Text, err, test.want)
			}
		})
	}
}

func named(def, tool string) string {
	list, err := json.Marshal(map[string]any{"chat_template": []map[string]string{
		{"name": "default", "template": def}, {"name": "tool_use", "template": tool},
	}})
	if err != nil {
		return err.Error()
	}
	return string(list)
}

func TestFoldersThatCannotBeLoaded(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"no tokenizer", map[string]string{"tokenizer.json": ""}, "tokenizer.json"},
		{"broken tokenizer", map[string]string{"tokenizer.json": `{"model": `}, "read tokenizer.json"},
		{"pointer file", map[string]string{"tokenizer.json": "version https://git-lfs.github.com/spec/v1\n"}, "read tokenizer.json"},
		{"other kind", map[string]string{"tokenizer.json": `{"model": {"type": "Unigram", "vocab": {}}, "decoder": {"type": "Metaspace"}}`}, "only byte-level BPE"},
		{"no vocabulary", map[string]string{"tokenizer.json": `{"model": {"type": "BPE"}, "decoder": {"type": "ByteLevel"}}`}, "vocabulary is missing"},
		{"absurd id", map[string]string{"tokenizer.json": `{"model": {"type": "BPE", "vocab": {"a": 2000000000}}, "decoder": {"type": "ByteLevel"}}`}, "id 2000000000"},
		{"refused by the library", map[string]string{"tokenizer.json": `{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}, "decoder": {"type": "ByteLevel"}}`}, "load tokenizer"},
		{"broken config", map[string]string{"tokenizer_config.json": `[]`}, "tokenizer_config.json"},
		{"template of another kind", map[string]string{"tokenizer_config.json": `{"chat_template": 3}`}, "chat_template is neither"},
		{"template with a mistake", map[string]string{"chat_template.jinja": "{% if x %}"}, "compile chat template"},
		{"template that never ends", map[string]string{"chat_template.jinja": "{{ 'a"}, "compile chat template"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, err := LoadFolder(folder(t, test.files))
			if err == nil {
				t.Fatalf("loaded: %v", m.Close())
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q lacks %q", err, test.want)
			}
		})
	}
	if _, err := LoadFolder(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder without files: %v, want fs.ErrNotExist", err)
	}
}

func TestModelWithoutATemplateEncodes(t *testing.T) {
	m := loadFolder(t, folder(t, nil))
	if len(m.EncodeText("hello")) == 0 {
		t.Error("no ids")
	}
	if _, err := m.Render([]Message{user("x")}, nil, RenderOptions{}); !errors.Is(err, ErrNoTemplate) {
		t.Errorf("error %v", err)
	}
}

// A tokenizer.json may hold the settings of the run that saved it.
func TestTextsAreNeitherCutNorPadded(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "tiny", "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	file["truncation"] = map[string]any{"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
	file["padding"] = map[string]any{
		"strategy": map[string]any{"Fixed": 64}, "direction": "Left", "pad_to_multiple_of": nil,
		"pad_id": 0, "pad_type_id": 0, "pad_token": "!",
	}
	if data, err = json.Marshal(file); err != nil {
		t.Fatal(err)
	}
	m := loadFolder(t, folder(t, map[string]string{"tokenizer.json": string(data)}))
	for _, c := range readGoldens(t, "tiny_goldens.json").Texts {
		checkText(t, m, c.Text, c.IDs)
	}
}
