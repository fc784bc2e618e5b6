package examples

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/runtime/weights"
)

const tinyFolder = "../../runtime/chat/testdata/tiny"

// testModel is one that the oracle knows.
type testModel struct {
	rows string                                 // of testdata that it can render
	open func(testing.TB) (*chat.Model, string) // and the file to give the oracle
}

func testModels() map[string]testModel {
	return map[string]testModel{
		"tiny":    {"conversations.jsonl", tiny},
		"bare":    {"conversations.jsonl", bare},
		"qwen3":   {"conversations.jsonl", qwen3},
		"smollm2": {"plain.jsonl", smollm2},
	}
}

// tiny is a model whose template has generation blocks.
func tiny(t testing.TB) (*chat.Model, string) {
	return opened(t)(chat.LoadFolder(tinyFolder)), tinyFolder
}

// bare is tiny without them.
func bare(t testing.TB) (*chat.Model, string) {
	edit := strings.NewReplacer("{% generation %}", "", "{% endgeneration %}", "{{ '' }}")
	return edited(t, edit.Replace), tinyFolder
}

// edited is tiny with another tokenizer_config.json.
func edited(t testing.TB, edit func(string) string) *chat.Model {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"tokenizer.json", "tokenizer_config.json"} {
		data, err := os.ReadFile(filepath.Join(tinyFolder, name))
		if err != nil {
			t.Fatal(err)
		}
		if name != "tokenizer.json" {
			data = []byte(edit(string(data)))
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return opened(t)(chat.LoadFolder(dir))
}

// qwen3 is the real tokenizer and template, which are not ours to keep here.
func qwen3(t testing.TB) (*chat.Model, string) {
	dir := os.Getenv("CR_TEST_TOKENIZER")
	if dir == "" {
		t.Skip("set CR_TEST_TOKENIZER to a folder with Qwen3's tokenizer.json and tokenizer_config.json")
	}
	return opened(t)(chat.LoadFolder(dir)), dir
}

// smollm2 is built from the vocabulary of SmolLM2's GGUF.
func smollm2(t testing.TB) (*chat.Model, string) {
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
	return opened(t)(chat.FromVocabulary(chat.Vocabulary{
		Tokens: v.Tokens, Types: v.Types, Merges: v.Merges, Model: v.Model, Pre: v.Pre,
		BOS: v.BOS, EOS: v.EOS, PAD: v.PAD, AddBOS: v.AddBOS, ChatTemplate: v.ChatTemplate,
	})), path
}

// opened fails the test on an error and closes the model at its end.
func opened(t testing.TB) func(*chat.Model, error) *chat.Model {
	t.Helper()
	return func(m *chat.Model, err error) *chat.Model {
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

// python is a Python that has transformers.
func python() string { return cmp.Or(os.Getenv("CR_TEST_PYTHON"), "python3") }
