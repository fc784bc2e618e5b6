package chat

import (
	"errors"
	"fmt"
	"slices"
)

// Model is a model's text side: its tokenizer, its chat template and what the
// template can do. It is safe for concurrent use.
type Model struct {
	tok       *tokenizer
	sources   map[string]string // the templates as they were given
	templates templates
	tokens    SpecialTokens
	traits    traits
}

// SpecialTokens are the texts that a template knows as bos_token and so on; ""
// where the model has none.
type SpecialTokens struct {
	BOS, EOS, PAD, UNK string
}

// ErrNoTemplate says that the model brings no chat template: it can encode and
// decode, but not render a conversation.
var ErrNoTemplate = errors.New("the model has no chat template")

// newModel puts a model together and finds out what its template can do.
func newModel(tok *tokenizer, sources map[string]string, tokens SpecialTokens) (*Model, error) {
	m := &Model{tok: tok, sources: sources, tokens: tokens}
	var err error
	if m.templates, err = compileTemplates(sources); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	m.traits = m.probe()
	return m, nil
}

// Close frees the tokenizer's memory outside Go. The model is of no use after.
func (m *Model) Close() error {
	if err := m.tok.bpe.Close(); err != nil {
		return fmt.Errorf("close tokenizer: %w", err)
	}
	return nil
}

// EncodeText gives the ids of content: text in which no control token
// (special=true) counts, whatever it spells. No end or begin token is added.
func (m *Model) EncodeText(text string) []int32 { return m.tok.appendText(nil, text) }

// EncodeTemplate gives the ids of template text, control tokens included. No
// end or begin token is added: templates write theirs.
func (m *Model) EncodeTemplate(text string) []int32 {
	return m.tok.appendTemplate(nil, validText(text), 0)
}

// EncodePrompt gives the ids of a prompt without a template, as the model's
// tokenizer encodes text by itself: behind the begin token, if it adds one,
// control tokens included.
func (m *Model) EncodePrompt(text string) []int32 {
	return m.tok.appendTemplate(slices.Clone(m.tok.begin), validText(text), 0)
}

// TokenID looks up a token by its text: a control or added token by what it
// spells, another by its vocabulary entry.
func (m *Model) TokenID(text string) (int32, bool) {
	id, ok := m.tok.ids[text]
	return id, ok
}

// IsControl reports whether id is a control token (special=true).
func (m *Model) IsControl(id int32) bool { return m.tok.special[id] }

// VocabularySize is one more than the largest id.
func (m *Model) VocabularySize() int { return len(m.tok.pieces) }

// SpecialTokens are the texts of the model's begin, end and padding tokens.
func (m *Model) SpecialTokens() SpecialTokens { return m.tokens }

// IgnoresTools says that the template shows the model no tools, so that Render
// puts their schemas and the Hermes instructions into the system turn.
func (m *Model) IgnoresTools() bool { return !m.traits.tools }

// EndOfTurn is the control token that the template writes after an assistant's
// content; false: it writes none.
func (m *Model) EndOfTurn() (int32, bool) { return m.traits.end, m.traits.hasEnd }
