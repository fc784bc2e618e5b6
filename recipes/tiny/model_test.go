package tiny

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/coderl/cr/runtime/chat"
)

// loadModel reads the tokenizer and template that the model ships with.
func loadModel(t *testing.T) *chat.Model {
	t.Helper()
	m, err := chat.LoadFolder("model")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// goldens are what transformers made of the same; see testdata/goldens.py.
type goldens struct {
	Texts []struct {
		Text string
		IDs  []int32
	}
	Conversations []struct {
		Messages []chat.Message
		Tools    []chat.Tool
		Prompt   bool
		Text     string
		IDs      []int32
	}
}

func readGoldens(t *testing.T) (g goldens) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "goldens.json"))
	if err == nil {
		err = json.Unmarshal(raw, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestTextsAreEncodedAsTransformersDoes(t *testing.T) {
	m := loadModel(t)
	for _, text := range readGoldens(t).Texts {
		if got := m.EncodeText(text.Text); !slices.Equal(got, text.IDs) {
			t.Errorf("%q: ids %v, transformers has %v", text.Text, got, text.IDs)
		}
	}
}

func TestConversationsAreRenderedAsTransformersDoes(t *testing.T) {
	m := loadModel(t)
	for i, c := range readGoldens(t).Conversations {
		got, err := m.Render(c.Messages, c.Tools, chat.RenderOptions{AddGenerationPrompt: c.Prompt})
		if err != nil || got.Text != c.Text || !slices.Equal(got.IDs, c.IDs) {
			t.Errorf("conversation %d: %v\n%q\nids %v\ntransformers has\n%q\nids %v", i, err, got.Text, got.IDs, c.Text, c.IDs)
		}
	}
}

// TestTheTokenizer holds what the model's design rests on.
func TestTheTokenizer(t *testing.T) {
	m := loadModel(t)
	for _, text := range []string{"7", " 7"} {
		if ids := m.EncodeText(text); len(ids) != 1 {
			t.Errorf("a digit %q is %d tokens", text, len(ids))
		}
	}
	if ids := m.EncodeText("1234 567"); len(ids) != 7 {
		t.Errorf("seven digits are %d tokens", len(ids))
	}
	line := m.EncodeText("apple 14 fig")
	quoted := m.EncodeText("'apple 14 fig'")
	if !slices.Equal(quoted[1:len(quoted)-1], line) {
		t.Errorf("a quoted line %v is not the line's own tokens %v", quoted, line)
	}
}
