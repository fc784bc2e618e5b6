package chat

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// tinyVocabulary is tiny's tokenizer.json in the form that a GGUF gives it.
func tinyVocabulary(t *testing.T) Vocabulary {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "tiny", "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Added []addedToken `json:"added_tokens"`
		Model struct {
			Vocab  map[string]int32
			Merges [][]string
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	n := len(file.Model.Vocab) + len(file.Added)
	v := Vocabulary{Model: "gpt2", Pre: "qwen2", Tokens: make([]string, n), Types: make([]int32, n), BOS: -1, EOS: -1, PAD: -1}
	for token, id := range file.Model.Vocab {
		v.Tokens[id], v.Types[id] = token, 1
	}
	for _, a := range file.Added {
		v.Tokens[a.ID], v.Types[a.ID] = a.Content, typeUserDefined
		if a.Special {
			v.Types[a.ID] = typeControl
		}
	}
	for _, merge := range file.Model.Merges {
		v.Merges = append(v.Merges, strings.Join(merge, " "))
	}
	return v
}

func TestVocabularyGivesTheSameIDsAsItsTokenizerFile(t *testing.T) {
	m := closing(t)(FromVocabulary(tinyVocabulary(t)))
	for _, c := range readGoldens(t, "tiny_goldens.json").Texts {
		checkText(t, m, c.Text, c.IDs)
	}
	for _, c := range readGoldens(t, "tiny_goldens.json").Conversations {
		if got := m.EncodeTemplate(c.Text); !slices.Equal(got, c.IDs) {
			t.Errorf("%s: got %v, want %v", c.Name, got, c.IDs)
		}
	}
}

func TestVocabulariesThatCannotBeRead(t *testing.T) {
	for want, change := range map[string]func(*Vocabulary){
		`"t5"`:           func(v *Vocabulary) { v.Model = "t5" },
		`"kimi-k2"`:      func(v *Vocabulary) { v.Pre = "kimi-k2" },
		"3 token types":  func(v *Vocabulary) { v.Types = v.Types[:3] },
		"load tokenizer": func(v *Vocabulary) { v.Merges = []string{"no such"} },
	} {
		v := tinyVocabulary(t)
		change(&v)
		if _, err := FromVocabulary(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %s", err, want)
		}
	}
}

// A vocabulary that takes whole words (ignore_merges) holds its control tokens
// as words too; content must not reach them.
func TestContentNeverGivesAWordThatIsAControlToken(t *testing.T) {
	v := tinyVocabulary(t)
	v.Pre = "llama-bpe"
	v.Tokens, v.Types = append(v.Tokens, "pad"), append(v.Types, typeControl)
	m := closing(t)(FromVocabulary(v))
	pad, ok := m.TokenID("pad")
	if !ok || !slices.Equal(m.EncodeTemplate("pad"), []int32{pad}) {
		t.Fatalf("as template text: %v, want %d", m.EncodeTemplate("pad"), pad)
	}
	if ids := m.EncodeText("pad pad"); slices.ContainsFunc(ids, m.IsControl) || m.Decode(ids, false) != "pad pad" {
		t.Errorf("as content: %v", ids)
	}
}

func TestPromptsBeginAsTheTokenizerDoes(t *testing.T) {
	v := tinyVocabulary(t)
	v.BOS, v.AddBOS = int32(slices.Index(v.Tokens, "<|endoftext|>")), true
	fromGGUF := closing(t)(FromVocabulary(v))

	data, err := os.ReadFile(filepath.Join("testdata", "tiny", "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]json.RawMessage
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	// As in Llama 3's tokenizer.json.
	file["post_processor"] = json.RawMessage(`{"type": "TemplateProcessing", "pair": [],
		"single": [{"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
		"special_tokens": {"<|endoftext|>": {"id": "<|endoftext|>", "ids": [` + strconv.Itoa(int(v.BOS)) + `], "tokens": ["<|endoftext|>"]}}}`)
	data, err = json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	fromFolder := loadFolder(t, folder(t, map[string]string{"tokenizer.json": string(data)}))
	for name, m := range map[string]*Model{"GGUF": fromGGUF, "folder": fromFolder} {
		want := append([]int32{v.BOS}, m.EncodeTemplate("hi <|im_end|>")...)
		if got := m.EncodePrompt("hi <|im_end|>"); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if m := tiny(t); !slices.Equal(m.EncodePrompt("hi"), m.EncodeText("hi")) {
		t.Errorf("without begin token: %v", m.EncodePrompt("hi"))
	}
}
