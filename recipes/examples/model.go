package examples

import (
	"fmt"
	"os"

	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/runtime/weights"
)

// OpenModel reads a model's tokenizer and template, of a folder in Hugging Face
// layout, which need not hold weights, or of a GGUF file. The caller closes it.
func OpenModel(path string) (*chat.Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return chat.LoadFolder(path)
	}
	checkpoint, err := weights.Open(path)
	if err != nil {
		return nil, err
	}
	// The vocabulary is copied; nothing was written.
	defer func() { _ = checkpoint.Close() }()
	v := checkpoint.Vocabulary()
	if v == nil {
		return nil, fmt.Errorf("%s holds no tokenizer", path)
	}
	return chat.FromVocabulary(chat.Vocabulary{
		Model: v.Model, Pre: v.Pre, Tokens: v.Tokens, Types: v.Types, Merges: v.Merges,
		BOS: v.BOS, EOS: v.EOS, PAD: v.PAD, AddBOS: v.AddBOS, ChatTemplate: v.ChatTemplate,
	})
}
