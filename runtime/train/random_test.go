package train

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/coderl/cr/runtime/cpu"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
	"github.com/coderl/cr/runtime/weights"
)

// A model, batches and settings that nobody chose train as in PyTorch: another
// case on every run, named by its seed, which CR_TEST_SEED gives back.
func TestRandomCaseTrainsAsPyTorch(t *testing.T) {
	if os.Getenv("CR_TEST_PYTHON") == "" {
		t.Skip("CR_TEST_PYTHON names no Python with torch and transformers")
	}
	seed, err := strconv.ParseUint(os.Getenv("CR_TEST_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	makeCase(t, rng, dir)
	python(t, "oracle.py", dir)
	runCase(t, cpu.New(1+rng.IntN(3)), dir, rng.IntN(2) == 0)
}

// makeCase writes a random case into a folder.
func makeCase(t *testing.T, rng *rand.Rand, dir string) {
	t.Helper()
	groups, kv := 1+rng.IntN(4), 1+rng.IntN(3)
	config := map[string]any{
		"model_type": []string{"qwen3", "llama"}[rng.IntN(2)], "hidden_size": groups * kv * (2 + rng.IntN(9)),
		"num_hidden_layers": 1 + rng.IntN(3), "num_attention_heads": groups * kv, "num_key_value_heads": kv,
		"head_dim": 2 * (1 + rng.IntN(20)), "intermediate_size": 5 + rng.IntN(70), "vocab_size": 20 + rng.IntN(100),
		"tie_word_embeddings": rng.IntN(2) == 0, "attention_bias": rng.IntN(2) == 0, "mlp_bias": rng.IntN(2) == 0,
		"rms_norm_eps": 1e-5, "rope_theta": 10000.0, "max_position_embeddings": 256, "hidden_act": "silu",
	}
	writeJSON(t, filepath.Join(dir, "config.json"), config)
	model, err := OpenOn(t.Context(), cpu.New(1), dir, Options{Scratch: true})
	check(t, err)
	defer model.Close()
	var values []weights.NamedTensor
	for _, w := range model.stored {
		values = append(values, randomTensor(rng, w.name, w.shape, len(w.shape) == 1))
	}
	check(t, weights.WriteSafetensors(filepath.Join(dir, "model.safetensors"), values))

	c := map[string]any{
		"steps": 10, "lr": 0.003, "clip": []float64{0, 0.5}[rng.IntN(2)], "temperature": 0.5 + rng.Float64(),
		"adamw": map[string]float64{"beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "weight_decay": 0.05}, "lora": nil,
	}
	if rng.IntN(2) == 0 {
		c["lora"] = randomLoRA(t, rng, model, dir)
	}
	var batches []map[string]any
	for range 1 + rng.IntN(3) {
		batches = append(batches, randomBatch(rng, config["vocab_size"].(int)))
	}
	c["batches"] = batches
	writeJSON(t, filepath.Join(dir, "case.json"), c)
}

// randomTensor is uniform, around one for a norm.
func randomTensor(rng *rand.Rand, name string, shape []int, vector bool) weights.NamedTensor {
	values := make([]float32, tensor.Tensor{Shape: shape}.Len())
	for i := range values {
		values[i] = float32(rng.Float64() - 0.5)
		if vector {
			values[i] = 1 + 0.5*values[i]
		}
	}
	data := make([]byte, 4*len(values))
	reference.Encode(data, tensor.F32, values)
	return weights.NamedTensor{Name: name, Host: tensor.Host{DType: tensor.F32, Shape: shape, Data: data}}
}

// randomLoRA writes adapters for some of the projections.
func randomLoRA(t *testing.T, rng *rand.Rand, model *Trainer, dir string) LoRA {
	t.Helper()
	lora := LoRA{Rank: 1 + rng.IntN(5), Alpha: 1 + 7*rng.Float64()}
	for _, i := range rng.Perm(len(projections))[:1+rng.IntN(len(projections))] {
		lora.Targets = append(lora.Targets, projections[i])
	}
	var adapters []weights.NamedTensor
	for _, w := range model.stored {
		if stem := w.name[:len(w.name)-len(".weight")]; lora.targets(w.name) {
			adapters = append(adapters,
				randomTensor(rng, stem+".lora_A.weight", []int{lora.Rank, w.shape[1]}, false),
				randomTensor(rng, stem+".lora_B.weight", []int{w.shape[0], lora.Rank}, false))
		}
	}
	check(t, weights.WriteSafetensors(filepath.Join(dir, "adapters.safetensors"), adapters))
	return lora
}

// randomBatch is some segments, with a loss on most tokens that have a next.
func randomBatch(rng *rand.Rand, vocab int) map[string]any {
	var ids, positions, rows, targets []int32
	var dlogp, dentropy []float64
	starts := []int32{0}
	for range 1 + rng.IntN(4) {
		n := 2 + rng.IntN(60)
		for i := range n {
			if i > 0 && (rng.IntN(4) > 0 || len(rows) == 0) {
				rows = append(rows, int32(len(ids)-1))
				dlogp, dentropy = append(dlogp, 0.1*rng.Float64()-0.09), append(dentropy, 0.02*rng.Float64()-0.01)
				targets = append(targets, 0)
			}
			ids, positions = append(ids, int32(rng.IntN(vocab))), append(positions, int32(i))
		}
		starts = append(starts, int32(len(ids)))
	}
	for i, row := range rows {
		targets[i] = ids[row+1]
	}
	return map[string]any{
		"ids": ids, "positions": positions, "starts": starts, "rows": rows, "targets": targets,
		"dlogp": dlogp, "dentropy": dentropy,
	}
}

func writeJSON(t *testing.T, path string, value any) {
	t.Helper()
	data, err := json.Marshal(value)
	check(t, err)
	check(t, os.WriteFile(path, data, 0o600))
}
