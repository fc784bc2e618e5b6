package chat

import (
	"encoding/json"
	"fmt"
)

// Vocabulary is a tokenizer as GGUF files carry it (tokenizer.ggml.* and
// tokenizer.chat_template). Ids are places in Tokens; -1 where there is none.
type Vocabulary struct {
	Tokens       []string
	Types        []int32 // 3: control, 4: user-defined; empty: all normal
	Merges       []string
	Model        string // "gpt2": byte-level BPE, the one kind that is read
	Pre          string // the pre-tokeniser's name
	BOS          int32
	EOS          int32
	PAD          int32
	AddBOS       bool // EncodePrompt begins with BOS; templates write their own
	ChatTemplate string
}

// GGUF's token types that matter here.
const (
	typeControl     = 3
	typeUserDefined = 4
)

// FromVocabulary builds the model's tokenizer from a GGUF's vocabulary: the
// same ids as from the tokenizer.json that the file was converted from.
func FromVocabulary(v Vocabulary) (*Model, error) {
	if v.Model != "gpt2" {
		return nil, fmt.Errorf("tokenizer model %q is not supported: only gpt2 (byte-level BPE) is", v.Model)
	}
	if len(v.Types) > 0 && len(v.Types) != len(v.Tokens) {
		return nil, fmt.Errorf("vocabulary has %d tokens but %d token types", len(v.Tokens), len(v.Types))
	}
	pre, err := preTokenizer(v.Pre)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(v.tokenizerJSON(pre))
	if err != nil {
		return nil, fmt.Errorf("build tokenizer from vocabulary: %w", err)
	}
	tok, err := newTokenizer(data)
	if err != nil {
		return nil, err
	}
	if v.AddBOS && v.text(v.BOS) != "" {
		tok.begin = []int32{v.BOS}
	}
	sources := map[string]string{}
	if v.ChatTemplate != "" {
		sources[defaultTemplate] = v.ChatTemplate
	}
	return newModel(tok, sources, SpecialTokens{BOS: v.text(v.BOS), EOS: v.text(v.EOS), PAD: v.text(v.PAD)})
}

func (v *Vocabulary) text(id int32) string {
	if id < 0 || int(id) >= len(v.Tokens) {
		return ""
	}
	return v.Tokens[id]
}

type object = map[string]any

// tokenizerJSON is the vocabulary in the form of a tokenizer.json.
func (v *Vocabulary) tokenizerJSON(pre preTokenizerSpec) object {
	vocab := make(map[string]int32, len(v.Tokens))
	added := []addedToken{}
	for i, token := range v.Tokens {
		id := int32(i)
		// Padding entries may repeat a token; the first one is meant.
		if _, ok := vocab[token]; ok {
			continue
		}
		vocab[token] = id
		if len(v.Types) > 0 && (v.Types[i] == typeControl || v.Types[i] == typeUserDefined) {
			added = append(added, addedToken{ID: id, Content: token, Special: v.Types[i] == typeControl})
		}
	}
	merges := v.Merges
	if merges == nil {
		merges = []string{}
	}
	return object{
		"version":       "1.0",
		"added_tokens":  added,
		"normalizer":    pre.normalizer,
		"pre_tokenizer": object{"type": "Sequence", "pretokenizers": pre.steps},
		"decoder":       byteLevel(false),
		"model": object{
			"type": "BPE", "vocab": vocab, "merges": merges,
			"fuse_unk": false, "byte_fallback": false, "ignore_merges": pre.ignoreMerges,
		},
	}
}

// preTokenizerSpec is how text is cut before BPE.
type preTokenizerSpec struct {
	normalizer   object
	steps        []object
	ignoreMerges bool // a cut that is a token itself is taken whole
}

// preTokenizer gives the cuts that a GGUF names: those of the models that
// first used them.
func preTokenizer(name string) (preTokenizerSpec, error) {
	switch name {
	case "gpt-2", "gpt2":
		return preTokenizerSpec{steps: []object{byteLevel(true)}}, nil
	case "smollm":
		digits := object{"type": "Digits", "individual_digits": true}
		return preTokenizerSpec{steps: []object{digits, byteLevel(true)}}, nil
	case "qwen2":
		return preTokenizerSpec{normalizer: object{"type": "NFC"}, steps: []object{split(`\p{N}`), byteLevel(false)}}, nil
	case "llama-bpe", "llama3", "llama-v3":
		return preTokenizerSpec{steps: []object{split(`\p{N}{1,3}`), byteLevel(false)}, ignoreMerges: true}, nil
	}
	return preTokenizerSpec{}, fmt.Errorf("pre-tokenizer %q is not supported: gpt-2, smollm, qwen2 and llama-bpe are", name)
}

// byteLevel moves bytes to printable runes; words first cuts as GPT-2 did.
func byteLevel(words bool) object {
	return object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": words}
}

// split cuts as GPT-4's tokenizer did, with numbers cut by the given pattern.
func split(numbers string) object {
	pattern := `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|` + numbers +
		`| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	return object{"type": "Split", "pattern": object{"Regex": pattern}, "behavior": "Isolated", "invert": false}
}
