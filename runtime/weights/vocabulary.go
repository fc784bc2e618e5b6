package weights

import "slices"

// Vocabulary is the tokenizer that a GGUF file carries.
type Vocabulary struct {
	// Model is the kind of tokenizer, "gpt2" for byte-level BPE; Pre names its
	// pre-tokenizer: "smollm", "qwen2", "llama-bpe".
	Model, Pre string
	// Tokens are indexed by id, in the tokenizer's own spelling (byte-level for
	// "gpt2"). Types, as long or empty, are ggml's token types: 1 normal,
	// 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte. Scores, as long
	// or empty, rank the pieces of a unigram tokenizer.
	Tokens []string
	Types  []int32
	Scores []float32
	// Merges are in order of rank, two spellings separated by a space.
	Merges []string
	// The ids of special tokens, -1 where the file names none.
	BOS, EOS, PAD int32
	// AddBOS says that every text begins with BOS.
	AddBOS bool
	// ChatTemplate is Jinja text; empty for none.
	ChatTemplate string
}

// ggml's token type of control tokens.
const controlToken = 3

// readVocabulary returns nil for a file without a tokenizer.
func readVocabulary(metadata map[string]ggufValue) (*Vocabulary, error) {
	if !metadata["tokenizer.ggml.tokens"].present {
		return nil, nil
	}
	tokens, ok := metadata["tokenizer.ggml.tokens"].strings()
	if !ok {
		return nil, corrupt("tokenizer.ggml.tokens is not a list of strings")
	}
	v := &Vocabulary{
		Tokens: tokens,
		BOS:    tokenID(metadata, "bos_token_id"),
		EOS:    tokenID(metadata, "eos_token_id"),
		PAD:    tokenID(metadata, "padding_token_id"),
	}
	v.Model, _ = metadata["tokenizer.ggml.model"].string()
	v.Pre, _ = metadata["tokenizer.ggml.pre"].string()
	v.ChatTemplate, _ = metadata["tokenizer.chat_template"].string()
	v.AddBOS, _ = metadata["tokenizer.ggml.add_bos_token"].bool()
	if v.Merges, ok = metadata["tokenizer.ggml.merges"].strings(); !ok && metadata["tokenizer.ggml.merges"].present {
		return nil, corrupt("tokenizer.ggml.merges is not a list of strings")
	}
	if err := v.readPerToken(metadata); err != nil {
		return nil, err
	}
	for _, id := range []int32{v.BOS, v.EOS, v.PAD} {
		if int(id) >= len(tokens) {
			return nil, corrupt("special token %d in a vocabulary of %d", id, len(tokens))
		}
	}
	return v, nil
}

// readPerToken reads the two lists that run beside the tokens.
func (v *Vocabulary) readPerToken(metadata map[string]ggufValue) error {
	types, scores := metadata["tokenizer.ggml.token_type"], metadata["tokenizer.ggml.scores"]
	if n := types.length(); types.present && n != len(v.Tokens) {
		return corrupt("%d token types for %d tokens", n, len(v.Tokens))
	}
	if n := scores.length(); scores.present && n != len(v.Tokens) {
		return corrupt("%d scores for %d tokens", n, len(v.Tokens))
	}
	for i := range types.length() {
		kind, ok := types.at(i).int()
		if !ok {
			return corrupt("tokenizer.ggml.token_type is not a list of integers")
		}
		v.Types = append(v.Types, int32(kind))
	}
	for i := range scores.length() {
		score, ok := scores.at(i).float()
		if !ok {
			return corrupt("tokenizer.ggml.scores is not a list of numbers")
		}
		v.Scores = append(v.Scores, float32(score))
	}
	return nil
}

// tokenID reads a special token's id; -1 where absent or out of range.
func tokenID(metadata map[string]ggufValue, key string) int32 {
	id, ok := metadata["tokenizer.ggml."+key].int()
	if !ok || id < 0 || id > widthLimit {
		return -1
	}
	return int32(id)
}

// endIDs returns every id that ends a sequence: those the file names, and the
// control tokens that end a turn or a text in the supported families. GGUF has
// no place for the list in generation_config.json, so that, like llama.cpp, one
// goes by their spelling.
func endIDs(metadata map[string]ggufValue, v *Vocabulary) []int32 {
	var ids []int32
	add := func(id int32) {
		if id >= 0 && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, key := range []string{"eos_token_id", "eot_token_id", "eom_token_id"} {
		add(tokenID(metadata, key))
	}
	if v == nil {
		return ids
	}
	for i, kind := range v.Types {
		if kind == controlToken && endsSequence(v.Tokens[i]) {
			add(int32(i))
		}
	}
	return ids
}

func endsSequence(token string) bool {
	switch token {
	case "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "</s>":
		return true
	}
	return false
}
