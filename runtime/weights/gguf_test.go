package weights

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/coderl/cr/runtime/model"
)

func TestGGUFCorrupt(t *testing.T) {
	const w, f32 = "w", 0
	alignment := func(n uint32) *ggufBuilder { return newGGUF().number("general.alignment", n) }
	cases := []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "not a GGUF file"},
		{"other magic", []byte("GGML\x03\x00\x00\x00"), "not a GGUF file"},
		{"cut in the metadata", tinyLlama().bytes(512)[:60], "truncated"},
		{"cut in the tensors", newGGUF().tensor(w, f32, 0, 8).bytes(32)[:40], "tensor 1 of 1: corrupt weight file: truncated"},
		{"cut in the data", newGGUF().tensor(w, f32, 0, 8).bytes(31), "truncated: tensor w"},
		{"no data", newGGUF().tensor(w, f32, 0, 8).bytes(0), "truncated"},
		{"text longer than the file", newGGUF().raw("k", ggufString, binary.LittleEndian.AppendUint64(nil, 1<<60)).bytes(0), "truncated"},
		{"array longer than the file", newGGUF().array("k", ggufUint8, 1<<60, nil).bytes(0), "truncated: an array"},
		{"list longer than the file", newGGUF().array("k", ggufString, 1<<60, nil).bytes(0), "truncated"},
		{"metadata count", append([]byte("GGUF\x03\x00\x00\x00"), "\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00"...), "metadata entries"},
		{"tensor count", append([]byte("GGUF\x03\x00\x00\x00"), "\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"...), "tensors, at most"},
		{"long key", newGGUF().number(strings.Repeat("k", 1<<16), 1).bytes(0), "a name of 65536 bytes"},
		{"value type", newGGUF().raw("k", 13, nil).bytes(8), "value type 13"},
		{"nesting", newGGUF().array("k", ggufArray, 1, nested(8)).bytes(0), "array depth"},
		{"key twice", newGGUF().number("k", 1).number("k", 1).bytes(0), `key "k" appears twice`},
		{"tensor twice", newGGUF().tensor(w, f32, 0, 8).tensor(w, f32, 32, 8).bytes(64), "tensor w is stored twice in the header"},
		{"overlap", newGGUF().tensor(w, f32, 0, 16).tensor("v", f32, 32, 8).bytes(64), "tensor v overlaps"},
		{"offset", newGGUF().tensor(w, f32, 8, 2).bytes(64), "not a multiple of 32"},
		{"offset beyond", newGGUF().tensor(w, f32, 1<<62, 8).bytes(64), "truncated: tensor w"},
		{"rank", newGGUF().tensor(w, f32, 0, 1, 1, 1, 1, 1).bytes(64), "5 dimensions"},
		{"product", newGGUF().tensor(w, f32, 0, 1<<33, 1<<33).bytes(64), "shape"},
		{"broken blocks", newGGUF().tensor(w, 8, 0, 16, 2).bytes(64), "rows of 16 values do not fill blocks of 32 (Q8_0)"},
		{"alignment 0", alignment(0).bytes(0), "general.alignment"},
		{"alignment 24", alignment(24).bytes(0), "general.alignment"},
		{"alignment 2³¹", alignment(1 << 31).bytes(0), "general.alignment"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseGGUF(c.file)
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
		})
	}
}

// nested is an array of an array of … of nothing.
func nested(depth int) []byte {
	var file []byte
	for range depth {
		file = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(file, ggufArray), 1)
	}
	return file
}

func TestGGUFRefusals(t *testing.T) {
	cases := []struct {
		name string
		file []byte
		as   any
		want string
	}{
		{"pointer", []byte(pointerText), nil, "LFS pointer, not weights"},
		{"version 1", (&ggufBuilder{version: 1}).bytes(0), nil, "version 1"},
		{"big-endian", (&ggufBuilder{version: 3 << 24}).bytes(0), nil, "big-endian"},
		{"split", tinyLlama().number("split.count", 3).bytes(512), nil, "one of 3 parts"},
		{"architecture", newGGUF().text("general.architecture", "gemma3").bytes(0), new(*UnsupportedArchitectureError), `"gemma3"`},
		{"no architecture", newGGUF().bytes(0), new(*UnsupportedArchitectureError), `""`},
		{"no embeddings", newGGUF().text("general.architecture", "llama").bytes(0), new(*MissingTensorError), "token_embd.weight"},
		{"experts", tinyLlama().number("llama.expert_count", 8).bytes(512), new(*UnsupportedOptionError), "llama.expert_count = 8"},
		{"partial rope", tinyLlama().number("llama.rope.dimension_count", 4).bytes(512), new(*UnsupportedOptionError), "dimension_count = 4"},
		{"value width", tinyLlama().number("llama.attention.value_length", 4).bytes(512), new(*UnsupportedOptionError), "value_length = 4"},
		{"longrope", tinyLlama().text("llama.rope.scaling.type", "longrope").bytes(512), new(*UnsupportedOptionError), "longrope"},
		{"layers differ", tinyLlama().array("llama.attention.head_count_kv", ggufInt32, 2, []byte{2, 0, 0, 0, 4, 0, 0, 0}).bytes(512), new(*UnsupportedOptionError), "head_count_kv = different from layer to layer"},
		{"missing key", newGGUF().text("general.architecture", "llama").tensor("token_embd.weight", 0, 0, 32, 4).bytes(512), nil, "llama.embedding_length is missing"},
		{"key of another type", tinyLlama().text("llama.attention.head_count_kv", "4").bytes(512), nil, "head_count_kv is missing or of an unexpected type"},
		{"shape", tinyLlama().tensor("blk.0.attn_q.weight", 0, 512, 32, 16).bytes(4096), new(*ShapeError), "self_attn.q_proj.weight has shape [16 32], the configuration asks for [32 32]"},
		{"two spellings", tinyLlama().tensor("model.embed_tokens.weight", 0, 512, 32, 4).bytes(1024), new(*DuplicateTensorError), "stored twice"},
		{"more tokens than rows", tinyLlama().array("tokenizer.ggml.tokens", ggufString, 5, make([]byte, 40)).bytes(512), nil, "5 tokens, but 4 embeddings"},
		{"token types", tinyLlama().array("tokenizer.ggml.tokens", ggufString, 1, make([]byte, 8)).
			array("tokenizer.ggml.token_type", ggufInt32, 2, make([]byte, 8)).bytes(512), nil, "2 token types for 1 tokens"},
		{"scores", tinyLlama().array("tokenizer.ggml.tokens", ggufString, 1, make([]byte, 8)).
			array("tokenizer.ggml.scores", ggufInt32, 1, make([]byte, 4)).bytes(512), nil, "scores is not a list of numbers"},
		{"merges", tinyLlama().array("tokenizer.ggml.tokens", ggufString, 1, make([]byte, 8)).
			text("tokenizer.ggml.merges", "a b").bytes(512), nil, "merges is not a list"},
		{"special token", tinyLlama().array("tokenizer.ggml.tokens", ggufString, 1, make([]byte, 8)).
			number("tokenizer.ggml.eos_token_id", 1).bytes(512), nil, "special token 1 in a vocabulary of 1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := openGGUFBytes(t, c.file)
			if !errors.Is(err, ErrBadCheckpoint) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error is %v, want %q", err, c.want)
			}
			if c.as != nil && !errors.As(err, c.as) {
				t.Errorf("error %v is not a %T", err, c.as)
			}
		})
	}
}

// An unusable type is refused by name when, and only when, it is asked for.
func TestGGUFForeignTypes(t *testing.T) {
	c, err := openGGUFBytes(t, tinyLlama().tensor("other.weight", 12, 512, 256, 1).tensor("x", 77, 512+160, 9).bytes(2048))
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]string{"other.weight": "Q4_K", "x": "ggml type 77"} {
		_, err := c.Tensor(name)
		var unsupported *UnsupportedTypeError
		if !errors.As(err, &unsupported) || unsupported.Type != kind || !strings.Contains(err.Error(), "not supported yet: "+kind) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

// The table of types against gguf's own.
func TestGGMLTypes(t *testing.T) {
	var golden [][4]any
	readGolden(t, "ggml-types.json", &golden)
	for _, g := range golden {
		got := ggmlTypeOf(uint32(g[0].(float64)))
		if got.name != g[1] || float64(got.block) != g[2] || float64(got.bytes) != g[3] {
			t.Errorf("type %v is %+v, want %v", g[0], got, g[1:])
		}
	}
	if got := ggmlTypeOf(1000); !got.foreign || got.block != 0 {
		t.Errorf("type 1000 is %+v", got)
	}
}

func TestGGUFRopeScaling(t *testing.T) {
	divisors := tinyLlama().tensor("rope_freqs.weight", 0, 512, 4).bytes(1024)
	copy(divisors[len(divisors)-512:], []byte{0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0, 0x42})
	c, err := openGGUFBytes(t, divisors)
	if err != nil {
		t.Fatal(err)
	}
	if s := c.Config().RopeScaling; s == nil || s.Type != "divisors" || !slices.Equal(s.Divisors, []float32{1, 1, 2, 32}) {
		t.Errorf("scaling is %+v", s)
	}
	c, err = openGGUFBytes(t, tinyLlama().text("llama.rope.scaling.type", "yarn").real("llama.rope.scaling.factor", 4).
		number("llama.rope.scaling.original_context_length", 16).bytes(512))
	if err != nil {
		t.Fatal(err)
	}
	// 0.1·ln 4 + 1 is what transformers gives the same factor (configs.json).
	want := model.RopeScaling{Type: "yarn", Factor: 4, OriginalContext: 16, AttentionFactor: 1.138629436111989, BetaFast: 32, BetaSlow: 1}
	s := c.Config().RopeScaling
	if s == nil || math.Abs(s.AttentionFactor-want.AttentionFactor) > 1e-12 {
		t.Fatalf("scaling is %+v", s)
	}
	s.AttentionFactor = want.AttentionFactor
	if s.Divisors != nil || s.Type != want.Type || s.Factor != want.Factor || s.OriginalContext != want.OriginalContext ||
		s.BetaFast != want.BetaFast || s.BetaSlow != want.BetaSlow {
		t.Errorf("scaling is %+v, want %+v", s, want)
	}
	zero := tinyLlama().tensor("rope_freqs.weight", 0, 512, 4).bytes(1024)
	if _, err := openGGUFBytes(t, zero); !errors.Is(err, ErrCorrupt) {
		t.Errorf("zero divisors: error is %v", err)
	}
}

// Every metadata type, and version 2, read as they were written.
func TestGGUFValueTypes(t *testing.T) {
	b := newGGUF()
	b.version = 2
	ints := map[string]struct {
		kind uint32
		raw  []byte
		want int64
	}{
		"u8": {ggufUint8, []byte{200}, 200}, "i8": {ggufInt8, []byte{200}, -56},
		"u16": {ggufUint16, []byte{1, 200}, 51201}, "i16": {ggufInt16, []byte{1, 200}, -14335},
		"u32": {ggufUint32, []byte{1, 0, 0, 200}, 3355443201}, "i32": {ggufInt32, []byte{1, 0, 0, 200}, -939524095},
		"u64": {ggufUint64, []byte{1, 0, 0, 0, 1, 0, 0, 0}, 4294967297}, "i64": {ggufInt64, []byte{255, 255, 255, 255, 255, 255, 255, 255}, -1},
	}
	for key, v := range ints {
		b.raw(key, v.kind, v.raw)
	}
	b.raw("huge", ggufUint64, []byte{255, 255, 255, 255, 255, 255, 255, 255})
	b.real("f32", 0.5).raw("f64", ggufFloat64, binary.LittleEndian.AppendUint64(nil, math.Float64bits(0.1)))
	b.raw("bool", ggufBool, []byte{1}).text("text", "Ġa")
	b.array("list", ggufString, 2, append(ggufText("x"), ggufText("")...)).array("lists", ggufArray, 1, append([]byte{ggufUint8: 0}, make([]byte, 11)...))
	file, err := parseGGUF(b.bytes(0))
	if err != nil {
		t.Fatal(err)
	}
	for key, v := range ints {
		if got, ok := file.metadata[key].int(); !ok || got != v.want {
			t.Errorf("%s is %d, %v, want %d", key, got, ok, v.want)
		}
	}
	if _, ok := file.metadata["huge"].int(); ok {
		t.Error("2⁶⁴-1 became an int64")
	}
	half, _ := file.metadata["f32"].float()
	tenth, _ := file.metadata["f64"].float()
	yes, _ := file.metadata["bool"].bool()
	text, _ := file.metadata["text"].string()
	list, _ := file.metadata["list"].strings()
	if half != 0.5 || tenth != 0.1 || !yes || text != "Ġa" || !slices.Equal(list, []string{"x", ""}) {
		t.Errorf("read %v, %v, %v, %q, %q", half, tenth, yes, text, list)
	}
}
