package train

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/coderl/cr/runtime/chat"
	"github.com/coderl/cr/runtime/cpu"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/weights"
)

// python runs a script of testdata, or skips.
func python(t *testing.T, script string, args ...string) {
	t.Helper()
	interpreter := os.Getenv("CR_TEST_PYTHON")
	if interpreter == "" {
		t.Skip("CR_TEST_PYTHON names no Python with torch and transformers")
	}
	out, err := exec.CommandContext(t.Context(), interpreter, append([]string{filepath.Join("testdata", script)}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// prediction is what predict.py writes.
type prediction struct {
	IDs  []int32
	LogP []float32
}

// predict asks transformers for the log-probabilities of ids, or of a text.
func predict(t *testing.T, folder string, input any, adapter ...string) prediction {
	t.Helper()
	dir := t.TempDir()
	data, err := json.Marshal(input)
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, "ids.json"), data, 0o600))
	out := filepath.Join(dir, "out.json")
	python(t, "predict.py", append([]string{folder, filepath.Join(dir, "ids.json"), out}, adapter...)...)
	data, err = os.ReadFile(out)
	check(t, err)
	var p prediction
	check(t, json.Unmarshal(data, &p))
	return p
}

// whole is a batch of one segment with every token to predict.
func whole(ids []int32) Batch {
	b := benchBatch(len(ids), len(ids), 1)
	b.IDs, b.Targets = ids, ids[1:]
	return b
}

// The demo's quantised GGUF becomes a folder that transformers reads, tokenizer
// included, with our logits.
func TestExportedGGUFInTransformers(t *testing.T) {
	path := os.Getenv("CR_TEST_MODEL")
	if path == "" || os.Getenv("CR_TEST_PYTHON") == "" {
		t.Skip("CR_TEST_MODEL names no SmolLM2-135M-Instruct.Q4_1.gguf, or CR_TEST_PYTHON no Python")
	}
	out := filepath.Join(t.TempDir(), "model")
	check(t, Export(t.Context(), path, out, tensor.F32))
	text := "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n\nprint(fib(2026))<|im_end|>\n"
	p := predict(t, out, map[string]string{"text": text})
	m, err := chat.LoadFolder(out)
	check(t, err)
	defer m.Close()
	if ids := m.EncodePrompt(text); !slices.Equal(ids, p.IDs) {
		t.Errorf("ids are %v, transformers has %v", ids, p.IDs)
	}
	for _, model := range []string{path, out} {
		trainer, err := OpenOn(t.Context(), cpu.New(2), model, Options{Frozen: true})
		check(t, err)
		got, _, err := trainer.LogProbs(t.Context(), whole(p.IDs), 1)
		check(t, err)
		compare(t, model, got, p.LogP)
		check(t, trainer.Close())
	}
}

// Every value of the small GGUFs survives, and the configuration.
func TestExportKeepsEverything(t *testing.T) {
	for _, name := range []string{"llama", "qwen3"} {
		path, out := "../weights/testdata/"+name+".gguf", filepath.Join(t.TempDir(), "model")
		check(t, Export(t.Context(), path, out, tensor.F32))
		before, err := weights.Open(path)
		check(t, err)
		after, err := weights.Open(out)
		check(t, err)
		a, _ := json.Marshal(before.Config())
		b, _ := json.Marshal(after.Config())
		if string(a) != string(b) {
			t.Errorf("%s: config is\n%s, was\n%s", name, b, a)
		}
		for _, tensorName := range after.Names() {
			got, err := after.Tensor(tensorName)
			check(t, err)
			want, err := before.Tensor(tensorName)
			check(t, err)
			if !slices.Equal(weights.Dequantize(got), weights.Dequantize(want)) {
				t.Errorf("%s: %s differs", name, tensorName)
			}
		}
		check(t, before.Close())
		check(t, after.Close())
	}
}

// PEFT reads the adapters on the base, transformers the merged model.
func TestAdaptersInPEFT(t *testing.T) {
	if os.Getenv("CR_TEST_PYTHON") == "" {
		t.Skip("CR_TEST_PYTHON names no Python with torch, transformers and peft")
	}
	dir := "testdata/qwen3-lora"
	c := readCase(t, dir)
	trainer := openCase(t, cpu.New(2), dir, c.options())
	steps(t, trainer, c, 4)
	saved := t.TempDir()
	check(t, trainer.Save(saved))
	ids := c.Batches[0].IDs
	got, _, err := trainer.LogProbs(t.Context(), whole(ids), 1)
	check(t, err)
	compare(t, "merged", got, predict(t, saved, ids).LogP)
	compare(t, "adapters", got, predict(t, dir, ids, filepath.Join(saved, "lora_adapter")).LogP)
}
