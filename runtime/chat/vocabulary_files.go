package chat

import (
	"encoding/json"
	"fmt"
)

// Files writes the vocabulary as the tokenizer files of a Hugging Face folder,
// by name: tokenizer.json, tokenizer_config.json and, where there is a template,
// chat_template.jinja.
func (v Vocabulary) Files() (map[string][]byte, error) {
	if v.Model != "gpt2" {
		return nil, fmt.Errorf("tokenizer model %q is not supported: only gpt2 (byte-level BPE) is", v.Model)
	}
	pre, err := preTokenizer(v.Pre)
	if err != nil {
		return nil, err
	}
	tokenizer := v.tokenizerJSON(pre)
	if begin := v.text(v.BOS); v.AddBOS && begin != "" {
		tokenizer["post_processor"] = beginWith(begin, v.BOS)
	}
	config := object{
		"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": false,
		"bos_token": orNull(v.text(v.BOS)), "eos_token": orNull(v.text(v.EOS)), "pad_token": orNull(v.text(v.PAD)),
	}
	files := map[string][]byte{}
	for name, content := range map[string]object{"tokenizer.json": tokenizer, "tokenizer_config.json": config} {
		if files[name], err = json.MarshalIndent(content, "", "  "); err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
	}
	if v.ChatTemplate != "" {
		files["chat_template.jinja"] = []byte(v.ChatTemplate)
	}
	return files, nil
}

// beginWith is the step that puts a token before every text.
func beginWith(token string, id int32) object {
	text := object{"Sequence": object{"id": "A", "type_id": 0}}
	special := object{"SpecialToken": object{"id": token, "type_id": 0}}
	return object{
		"type": "TemplateProcessing", "single": []object{special, text},
		"pair":           []object{special, text, special, {"Sequence": object{"id": "B", "type_id": 1}}},
		"special_tokens": object{token: object{"id": token, "ids": []int32{id}, "tokens": []string{token}}},
	}
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
