package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// folderConfig is what is read of a tokenizer_config.json, and of the
// special_tokens_map.json that older models carry beside it.
type folderConfig struct {
	ChatTemplate json.RawMessage `json:"chat_template"`
	BOS          tokenText       `json:"bos_token"`
	EOS          tokenText       `json:"eos_token"`
	PAD          tokenText       `json:"pad_token"`
	UNK          tokenText       `json:"unk_token"`
}

// tokenText is a token written as a string, as an object with its content, or
// as null.
type tokenText string

func (t *tokenText) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*string)(t)) == nil {
		return nil
	}
	var object struct {
		Content string `json:"content"`
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return fmt.Errorf("a special token is neither a string nor an object with a content")
	}
	*t = tokenText(object.Content)
	return nil
}

// LoadFolder reads the tokenizer and the chat template of a Hugging Face model
// folder: tokenizer.json, tokenizer_config.json and, in this order of
// precedence, chat_template.jinja (with additional_chat_templates), the config's
// chat_template (one text or a list of named ones) or chat_template.json. A model without a template loads;
// Render then returns ErrNoTemplate.
func LoadFolder(dir string) (*Model, error) {
	data, err := os.ReadFile(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		return nil, fmt.Errorf("load tokenizer: %w", err)
	}
	var config, tokenMap folderConfig
	if err := readJSON(dir, "tokenizer_config.json", &config); err != nil {
		return nil, err
	}
	if err := readJSON(dir, "special_tokens_map.json", &tokenMap); err != nil {
		return nil, err
	}
	sources, err := templateSources(dir, config.ChatTemplate)
	if err != nil {
		return nil, err
	}
	tok, err := newTokenizer(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	m, err := newModel(tok, sources, SpecialTokens{
		BOS: firstText(config.BOS, tokenMap.BOS),
		EOS: firstText(config.EOS, tokenMap.EOS),
		PAD: firstText(config.PAD, tokenMap.PAD),
		UNK: firstText(config.UNK, tokenMap.UNK),
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return m, nil
}

func firstText(a, b tokenText) string {
	if a != "" {
		return string(a)
	}
	return string(b)
}

// readJSON decodes a file that may be absent.
func readJSON(dir, name string, into any) error {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("load tokenizer: %w", err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("load tokenizer: %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// templateSources finds a folder's chat templates by name.
func templateSources(dir string, inConfig json.RawMessage) (map[string]string, error) {
	path := filepath.Join(dir, "chat_template.jinja")
	source, err := os.ReadFile(path)
	if err == nil {
		return withToolTemplate(dir, string(source))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("load chat template: %w", err)
	}
	where := "tokenizer_config.json"
	if isNull(inConfig) {
		var file folderConfig
		where = "chat_template.json"
		if err := readJSON(dir, where, &file); err != nil {
			return nil, err
		}
		inConfig = file.ChatTemplate
	}
	sources, err := namedTemplates(inConfig)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, where), err)
	}
	return sources, nil
}

// withToolTemplate adds the second template that may stand beside
// chat_template.jinja.
func withToolTemplate(dir, source string) (map[string]string, error) {
	sources := map[string]string{defaultTemplate: source}
	tool, err := os.ReadFile(filepath.Join(dir, "additional_chat_templates", toolTemplate+".jinja"))
	if err == nil {
		sources[toolTemplate] = string(tool)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("load chat template: %w", err)
	}
	return sources, nil
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// namedTemplates reads chat_template: a text, or a list of named texts.
func namedTemplates(raw json.RawMessage) (map[string]string, error) {
	if isNull(raw) {
		return nil, nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return map[string]string{defaultTemplate: one}, nil
	}
	var list []struct {
		Name     string `json:"name"`
		Template string `json:"template"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("chat_template is neither a text nor a list of named texts")
	}
	sources := map[string]string{}
	for _, entry := range list {
		sources[entry.Name] = entry.Template
	}
	return sources, nil
}
