package chat

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/coderl/cr/runtime/weights"
)

// goldenFile is what transformers made of texts and conversations; see
// testdata/goldens.py.
type goldenFile struct {
	Texts []struct {
		Text string
		IDs  []int32
	}
	Conversations []struct {
		Name     string
		Messages []Message
		Tools    []Tool
		Prompt   bool
		Thinking *bool
		Text     string
		IDs      []int32
	}
}

func readGoldens(t *testing.T, name string) goldenFile {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var g goldenFile
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// tiny is a model of our own: a tokenizer of 427 tokens in the Qwen manner and
// a template with most of what chat templates do.
func tiny(t testing.TB) *Model {
	t.Helper()
	return loadFolder(t, filepath.Join("testdata", "tiny"))
}

// qwen3 is the real tokenizer and template, which are not ours to keep here.
func qwen3(t testing.TB) *Model {
	t.Helper()
	dir := os.Getenv("CR_TEST_TOKENIZER")
	if dir == "" {
		t.Skip("set CR_TEST_TOKENIZER to a folder with Qwen3's tokenizer.json and tokenizer_config.json")
	}
	return loadFolder(t, dir)
}

// smollm2 is built from the vocabulary of SmolLM2's GGUF.
func smollm2(t testing.TB) *Model {
	t.Helper()
	path := os.Getenv("CR_TEST_MODEL")
	if path == "" {
		t.Skip("set CR_TEST_MODEL to SmolLM2-135M-Instruct.Q4_1.gguf to check a real vocabulary")
	}
	checkpoint, err := weights.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer checkpoint.Close()
	v := checkpoint.Vocabulary()
	return closing(t)(FromVocabulary(Vocabulary{
		Tokens: v.Tokens, Types: v.Types, Merges: v.Merges, Model: v.Model, Pre: v.Pre,
		BOS: v.BOS, EOS: v.EOS, PAD: v.PAD, AddBOS: v.AddBOS, ChatTemplate: v.ChatTemplate,
	}))
}

func loadFolder(t testing.TB, dir string) *Model {
	t.Helper()
	return closing(t)(LoadFolder(dir))
}

// closing fails the test on an error and closes the model at its end.
func closing(t testing.TB) func(*Model, error) *Model {
	t.Helper()
	return func(m *Model, err error) *Model {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
		return m
	}
}

func TestTransformersGoldens(t *testing.T) {
	models := map[string]func(testing.TB) *Model{
		"tiny_goldens.json": tiny, "qwen3_goldens.json": qwen3, "smollm2_goldens.json": smollm2,
	}
	for file, open := range models {
		t.Run(file, func(t *testing.T) {
			m := open(t)
			g := readGoldens(t, file)
			for _, c := range g.Texts {
				checkText(t, m, c.Text, c.IDs)
			}
			for _, c := range g.Conversations {
				got, err := m.Render(c.Messages, c.Tools, RenderOptions{AddGenerationPrompt: c.Prompt, Thinking: c.Thinking})
				if err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
				if got.Text != c.Text {
					t.Errorf("%s: text\n got %q\nwant %q", c.Name, got.Text, c.Text)
				}
				if !slices.Equal(got.IDs, c.IDs) {
					t.Errorf("%s: ids\n got %v\nwant %v", c.Name, got.IDs, c.IDs)
				}
				if back := m.Decode(got.IDs, true); back != c.Text {
					t.Errorf("%s: decodes to %q", c.Name, back)
				}
			}
		})
	}
}

// checkText compares both encoders with the golden ids; they differ from each
// other only where the text spells control tokens, which these do not.
func checkText(t *testing.T, m *Model, text string, want []int32) {
	t.Helper()
	if got := m.EncodeText(text); !slices.Equal(got, want) {
		t.Errorf("EncodeText(%q)\n got %v\nwant %v", text, got, want)
	}
	if got := m.EncodeTemplate(text); !slices.Equal(got, want) {
		t.Errorf("EncodeTemplate(%q)\n got %v\nwant %v", text, got, want)
	}
}
