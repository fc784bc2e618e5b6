package weights

import (
	"os"
	"testing"
)

func FuzzGGUF(f *testing.F) {
	// Small seeds: the fuzzer shortens every one that it finds interesting.
	vocabulary := append(append(ggufText("a"), ggufText("b")...), ggufText("</s>")...)
	f.Add(tinyLlama().tensor("blk.0.attn_q.weight", 3, 512, 32, 32).number("tokenizer.ggml.eos_token_id", 2).
		array("tokenizer.ggml.tokens", ggufString, 3, vocabulary).
		array("tokenizer.ggml.token_type", ggufInt32, 3, []byte{1, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0}).bytes(512 + 640))
	f.Add(tinyLlama().bytes(512))
	f.Add(tinyLlama().tensor("blk.0.attn_k.bias", 8, 512, 32).tensor("rope_freqs.weight", 1, 576, 4).bytes(1024))
	f.Add(newGGUF().array("k", ggufArray, 1, nested(8)).bytes(0))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := parseGGUF(data)
		if err != nil {
			return
		}
		c := &Checkpoint{path: "model.gguf", tensors: map[string]stored{}}
		if err := c.interpretGGUF(file); err != nil {
			return
		}
		wantWhole(t, c)
	})
}

// wantWhole checks what every caller relies on: a tensor that is returned has
// exactly the bytes of its shape.
func wantWhole(t *testing.T, c *Checkpoint) {
	for _, name := range c.Names() {
		h, err := c.Tensor(name)
		if err != nil {
			continue
		}
		elements := 1
		for _, d := range h.Shape {
			elements *= d
		}
		if len(h.Data) != h.DType.Bytes(elements) {
			t.Fatalf("%s: %s%v in %d bytes", name, h.DType, h.Shape, len(h.Data))
		}
	}
}

func FuzzSafetensors(f *testing.F) {
	for _, name := range []string{"testdata/types.safetensors", "testdata/layout.safetensors"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add(safetensorsFile(`{"w":{"dtype":"F4","shape":[2,3],"data_offsets":[0,3]},"v":{"dtype":"?","shape":[9],"data_offsets":[3,3]}}`, 3))
	f.Add([]byte(pointerText))
	f.Fuzz(func(t *testing.T, data []byte) {
		tensors, err := parseSafetensors(data)
		if err != nil {
			return
		}
		c := &Checkpoint{tensors: map[string]stored{}}
		for _, s := range tensors {
			if err := c.add(s.name, s); err != nil {
				t.Fatal(err)
			}
		}
		wantWhole(t, c)
	})
}

func FuzzConfig(f *testing.F) {
	f.Add(minimal)
	f.Add(`{"model_type": "llama", "rope_scaling": {"type": "yarn", "factor": 1e308}, "eos_token_id": [1, null]}`)
	f.Fuzz(func(t *testing.T, text string) {
		config, err := readFolderConfig(configFolder(t, text, ""))
		if err == nil && (config.KVHeads < 1 || config.HeadDim < 2 || config.Heads%config.KVHeads != 0 || config.Layers < 1) {
			t.Fatalf("accepted %+v", config)
		}
	})
}
