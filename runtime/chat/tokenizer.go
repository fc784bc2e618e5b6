package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/daulet/tokenizers"
)

// tokenizer is a byte-level BPE: text to ids by the tokenizers library, ids to
// bytes by its own table of pieces.
//
// The library runs with its special tokens switched off, so that no text can
// turn into one; template text is cut at its special tokens here.
type tokenizer struct {
	bpe      *tokenizers.Tokenizer
	ids      map[string]int32 // vocabulary and added tokens by their text
	pieces   []string         // bytes of each id; "" where the id is unused
	special  map[int32]bool
	controls controlSet
	begin    []int32 // what the tokenizer puts before a text by itself
}

// addedToken is an entry of tokenizer.json's added_tokens.
type addedToken struct {
	ID         int32  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// tokenizerFile is what must be known of a tokenizer.json beside what the
// library reads itself.
type tokenizerFile struct {
	Added      []addedToken    `json:"added_tokens"`
	Decoder    *decoderSpec    `json:"decoder"`
	Truncation json.RawMessage `json:"truncation"`
	Padding    json.RawMessage `json:"padding"`
	Model      struct {
		Type  string           `json:"type"`
		Vocab map[string]int32 `json:"vocab"`
	} `json:"model"`
}

// decoderSpec is a decoder of tokenizer.json, possibly a sequence of them.
type decoderSpec struct {
	Type     string        `json:"type"`
	Decoders []decoderSpec `json:"decoders"`
}

func (d *decoderSpec) byteLevel() bool {
	if d == nil {
		return false
	}
	return d.Type == "ByteLevel" || slices.ContainsFunc(d.Decoders, func(s decoderSpec) bool { return s.byteLevel() })
}

// maxVocabulary bounds ids, so that one absurd id cannot ask for the memory of
// a billion pieces.
const maxVocabulary = 1 << 22

func newTokenizer(data []byte) (*tokenizer, error) {
	var file tokenizerFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("read tokenizer.json: %w", err)
	}
	if file.Model.Type != "BPE" || !file.Decoder.byteLevel() {
		return nil, fmt.Errorf("tokenizer model %q without a ByteLevel decoder is not supported: only byte-level BPE is", file.Model.Type)
	}
	t := &tokenizer{ids: file.Model.Vocab, special: map[int32]bool{}}
	if t.ids == nil {
		return nil, fmt.Errorf("tokenizer.json: the vocabulary is missing")
	}
	if err := t.tabulate(file.Added); err != nil {
		return nil, err
	}
	data, err := wholeTexts(data, &file)
	if err != nil {
		return nil, err
	}
	bpe, err := tokenizers.FromBytes(data, tokenizers.WithEncodeSpecialTokens())
	if err != nil {
		return nil, fmt.Errorf("load tokenizer: %w", err)
	}
	t.bpe = bpe
	t.begin = beginTokens(bpe)
	return t, nil
}

// wholeTexts removes a file's settings for cutting and padding texts, which
// transformers does not apply either unless it is asked to.
func wholeTexts(data []byte, file *tokenizerFile) ([]byte, error) {
	if isNull(file.Truncation) && isNull(file.Padding) {
		return data, nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("read tokenizer.json: %w", err)
	}
	delete(all, "truncation")
	delete(all, "padding")
	return json.Marshal(all)
}

// beginTokens finds the ids that the tokenizer's post-processor puts before a
// text.
func beginTokens(bpe *tokenizers.Tokenizer) []int32 {
	bare, full := bpe.EncodeWithOptions("a", false).IDs, bpe.EncodeWithOptions("a", true).IDs
	var begin []int32
	for len(full) > len(bare) && !slices.Equal(full[:len(bare)], bare) {
		begin, full = append(begin, int32(full[0])), full[1:]
	}
	return begin
}

// tabulate fills the table of pieces and the control tokens.
func (t *tokenizer) tabulate(added []addedToken) error {
	table := byteTable()
	for entry, id := range t.ids {
		if err := t.setPiece(id, pieceBytes(entry, table)); err != nil {
			return err
		}
	}
	for _, a := range added {
		if a.Content == "" {
			continue
		}
		if err := t.setPiece(a.ID, a.Content); err != nil {
			return err
		}
		t.ids[a.Content] = a.ID
		if a.Special {
			t.special[a.ID] = true
			t.controls.add(a)
		}
	}
	t.controls.finish()
	return nil
}

func (t *tokenizer) setPiece(id int32, bytes string) error {
	if id < 0 || id >= maxVocabulary {
		return fmt.Errorf("tokenizer.json: token %q has id %d, outside 0..%d", bytes, id, maxVocabulary-1)
	}
	if int(id) >= len(t.pieces) {
		t.pieces = append(t.pieces, make([]string, int(id)+1-len(t.pieces))...)
	}
	t.pieces[id] = bytes
	return nil
}

// appendText encodes text in which nothing counts as a control token.
func (t *tokenizer) appendText(ids []int32, text string) []int32 {
	// The library reads C strings, which end at a zero byte: those bytes are
	// encoded by hand, each by its own token.
	for i, part := range strings.Split(validText(text), "\x00") {
		if zero, ok := t.ids[string(byteRune(0))]; i > 0 && ok {
			ids = append(ids, zero)
		}
		if part == "" {
			continue
		}
		for _, id := range t.bpe.EncodeWithOptions(part, false).IDs {
			ids = t.appendContent(ids, int32(id))
		}
	}
	return ids
}

// appendContent appends a token of content. Vocabularies hold their control
// tokens too, and one that takes words whole (ignore_merges) could give them:
// those are written byte by byte.
func (t *tokenizer) appendContent(ids []int32, id int32) []int32 {
	if !t.special[id] {
		return append(ids, id)
	}
	for _, b := range []byte(t.pieces[id]) {
		ids = append(ids, t.ids[string(byteRune(b))])
	}
	return ids
}

// appendTemplate encodes template text: control tokens count, except where the
// guard rune breaks them; the guards themselves vanish. guard 0: none is set.
func (t *tokenizer) appendTemplate(ids []int32, text string, guard rune) []int32 {
	ids, _ = t.appendPlaced(ids, text, guard, nil)
	return ids
}

// bytes appends the bytes of id, nothing for an id outside the vocabulary.
func (t *tokenizer) bytes(p []byte, id int32) []byte {
	if id < 0 || int(id) >= len(t.pieces) {
		return p
	}
	return append(p, t.pieces[id]...)
}
