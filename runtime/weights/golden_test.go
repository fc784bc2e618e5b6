package weights

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

// open opens a checkpoint for the length of a test.
func open(t *testing.T, path string) *Checkpoint {
	t.Helper()
	c, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func readGolden(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, c *Checkpoint, name string) tensor.Host {
	t.Helper()
	h, err := c.Tensor(name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// wantTensors compares a checkpoint with a safetensors file of its values as
// float32, bit for bit.
func wantTensors(t *testing.T, c *Checkpoint, golden string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", golden))
	if err != nil {
		t.Fatal(err)
	}
	want, err := parseSafetensors(data)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, w := range want {
		names = append(names, w.name)
		h := get(t, c, w.name)
		if !slices.Equal(h.Shape, w.shape) {
			t.Errorf("%s: shape is %v, want %v", w.name, h.Shape, w.shape)
		}
		wide, err := Convert(h, tensor.F32)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(wide.Data, w.data) {
			t.Errorf("%s (%s): values differ", w.name, h.DType)
		}
	}
	slices.Sort(names)
	if !slices.Equal(c.Names(), names) {
		t.Errorf("names are %v, want %v", c.Names(), names)
	}
}

func TestSingleFolder(t *testing.T) {
	c := open(t, "testdata/qwen3-single")
	wantTensors(t, c, "qwen3-single.f32.safetensors")
	config := c.Config()
	if config.Arch != model.Qwen3 || config.HeadDim != 16 || !config.TieEmbeddings || !slices.Equal(config.EOS, []int32{3, 5}) {
		t.Errorf("config is %+v", config)
	}
	if h := get(t, c, "model.norm.weight"); h.DType != tensor.BF16 {
		t.Errorf("stored type is %s, want BF16", h.DType)
	}
	if c.Vocabulary() != nil || len(c.Notices()) != 0 {
		t.Errorf("vocabulary %v, notices %v", c.Vocabulary(), c.Notices())
	}
}

func TestShardedFolder(t *testing.T) {
	c := open(t, "testdata/llama-sharded")
	var want map[string][]float32
	readGolden(t, "llama-sharded.json", &want)
	if len(c.Names()) != len(want) {
		t.Errorf("%d tensors, want %d", len(c.Names()), len(want))
	}
	for name, some := range want {
		values := Dequantize(get(t, c, name))
		stride := max(1, len(values)/7)
		for i, v := range some {
			if values[i*stride] != v {
				t.Errorf("%s: value %d is %v, want %v", name, i*stride, values[i*stride], v)
			}
		}
	}
	if config := c.Config(); !config.AttentionBias || config.TieEmbeddings {
		t.Errorf("config is %+v", config)
	}
}

func TestGGUFValues(t *testing.T) {
	for _, name := range []string{"llama", "qwen3"} {
		t.Run(name, func(t *testing.T) {
			wantTensors(t, open(t, "testdata/"+name+".gguf"), name+".gguf.f32.safetensors")
		})
	}
}

func TestGGUFConfigAndVocabulary(t *testing.T) {
	c := open(t, "testdata/qwen3.gguf")
	got := c.Config()
	want := model.Config{
		Arch: model.Qwen3, Hidden: 32, Layers: 1, Heads: 4, KVHeads: 2, HeadDim: 16, FFN: 64, Vocab: 48, Context: 128,
		NormEps: 1e-5, RopeTheta: 50000, EOS: []int32{2, 0}, BOS: 1,
	}
	if !slices.Equal(got.EOS, want.EOS) {
		t.Errorf("end ids are %v, want %v", got.EOS, want.EOS)
	}
	got.EOS, want.EOS = nil, nil
	gotJSON, _ := json.Marshal(got)
	wantJSON, _ := json.Marshal(want)
	if string(gotJSON) != string(wantJSON) {
		t.Errorf("config is\n%s, want\n%s", gotJSON, wantJSON)
	}
	if llama := open(t, "testdata/llama.gguf").Config(); llama.HeadDim != 8 || !llama.TieEmbeddings {
		t.Errorf("llama config is %+v", llama)
	}
	v := c.Vocabulary()
	if v.Model != "gpt2" || v.Pre != "smollm" || v.BOS != 1 || v.EOS != 2 || v.PAD != -1 || !v.AddBOS || v.ChatTemplate != "{{ messages }}" {
		t.Errorf("vocabulary is %+v", v)
	}
	if len(v.Tokens) != 48 || v.Tokens[47] != "t47" || len(v.Types) != 48 || v.Types[2] != 3 || v.Types[3] != 1 {
		t.Errorf("tokens are %q, types %v", v.Tokens, v.Types)
	}
	if !slices.Equal(v.Merges, []string{"t 1", "Ġ a"}) || len(v.Scores) != 0 {
		t.Errorf("merges are %q, scores %v", v.Merges, v.Scores)
	}
}

// A real file: every tensor loads and decodes to what gguf decodes.
func TestRealModel(t *testing.T) {
	path := os.Getenv("CR_TEST_MODEL")
	if path == "" {
		t.Skip("set CR_TEST_MODEL to SmolLM2-135M-Instruct.Q4_1.gguf to check a real model")
	}
	c := open(t, path)
	var want map[string]string
	readGolden(t, "smollm2-q4_1.json", &want)
	if len(c.Names()) != len(want) {
		t.Errorf("%d tensors, want %d", len(c.Names()), len(want))
	}
	for name, sum := range want {
		wide, err := Convert(get(t, c, name), tensor.F32)
		if err != nil {
			t.Fatal(err)
		}
		if got := sha256.Sum256(wide.Data); hex.EncodeToString(got[:8]) != sum {
			t.Errorf("%s: values differ", name)
		}
	}
}

func TestRoundings(t *testing.T) {
	var golden struct {
		F32, Wide []uint32
		BF16, F16 []uint16
	}
	readGolden(t, "roundings.json", &golden)
	single := tensor.Host{DType: tensor.F32, Shape: []int{len(golden.F32)}}
	for _, bits := range golden.F32 {
		single.Data = binary.LittleEndian.AppendUint32(single.Data, bits)
	}
	rounded, err := Convert(single, tensor.BF16)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range golden.BF16 {
		if got := binary.LittleEndian.Uint16(rounded.Data[2*i:]); got != want {
			t.Errorf("bf16 of %#08x is %#04x, want %#04x", golden.F32[i], got, want)
		}
	}
	for i, bits := range golden.F16 {
		if got := math.Float32bits(reference.HalfToFloat(bits)); got != golden.Wide[i] {
			t.Errorf("f16 %#04x is %#08x, want %#08x", bits, got, golden.Wide[i])
		}
	}
	if got := bfloat16(float32(math.NaN())); got&0x7f80 != 0x7f80 || got&0x7f == 0 {
		t.Errorf("bf16 of NaN is %#04x", got)
	}
	if got := bfloat16(math.Float32frombits(0x7f800001)); got&0x7f == 0 {
		t.Errorf("bf16 of a NaN with low payload is %#04x, an infinity", got)
	}
}
