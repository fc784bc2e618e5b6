package runtime

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coderl/cr/runtime/cpu"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/weights"
)

// tinyModel is one model of testdata/golden_tiny.json, with what transformers
// computes on it.
type tinyModel struct {
	Name    string
	DType   string
	Config  json.RawMessage
	Tensors map[string][]int
	Runs    []struct {
		Prompt int // tokens of IDs that are the prompt; the rest is greedy
		IDs    []int32
		Scores []float64 // of IDs[1:]
	}
}

func tinyModels(t testing.TB) []tinyModel {
	t.Helper()
	data, err := os.ReadFile("testdata/golden_tiny.json")
	if err != nil {
		t.Fatal(err)
	}
	var models []tinyModel
	if err := json.Unmarshal(data, &models); err != nil {
		t.Fatal(err)
	}
	return models
}

func tinyModelNamed(t testing.TB, name string) tinyModel {
	t.Helper()
	for _, m := range tinyModels(t) {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no model %s in the golden file", name)
	return tinyModel{}
}

// folder writes the model in Hugging Face layout, in two shards if its name
// says so.
func (m tinyModel) folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	names := make([]string, 0, len(m.Tensors))
	for name := range m.Tensors {
		names = append(names, name)
	}
	slices.Sort(names)
	shards := map[string][]weights.NamedTensor{}
	index := map[string]string{}
	for i, name := range names {
		file := "model.safetensors"
		if strings.HasSuffix(m.Name, "sharded") {
			file = fmt.Sprintf("model-%05d-of-00002.safetensors", 1+i%2)
		}
		shards[file] = append(shards[file], weights.NamedTensor{Name: name, Host: m.tensor(name)})
		index[name] = file
	}
	for file, tensors := range shards {
		check(t, weights.WriteSafetensors(filepath.Join(dir, file), tensors))
	}
	if len(shards) > 1 {
		data, err := json.Marshal(map[string]any{"weight_map": index})
		check(t, err)
		check(t, os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), data, 0o600))
	}
	check(t, os.WriteFile(filepath.Join(dir, "config.json"), m.Config, 0o600))
	return dir
}

// tensor makes the values that golden_tiny.py makes: a hash of the tensor's
// name and the index, as a multiple of a power of two in [-1, 1).
func (m tinyModel) tensor(name string) tensor.Host {
	seed := uint64(0xcbf29ce484222325)
	for _, b := range []byte(name) {
		seed = (seed ^ uint64(b)) * 0x100000001b3
	}
	bits, host := 24, tensor.Host{DType: tensor.F32, Shape: m.Tensors[name]}
	if m.DType == "bf16" {
		bits, host.DType = 7, tensor.BF16
	}
	n := 1
	for _, d := range host.Shape {
		n *= d
	}
	for i := range n {
		whole := splitmix(seed+uint64(i)*0x9e3779b97f4a7c15) >> (64 - bits)
		v := spread(name, float32(whole)/float32(int(1)<<(bits-1))-1)
		if m.DType == "bf16" {
			host.Data = binary.LittleEndian.AppendUint16(host.Data, uint16(math.Float32bits(v)>>16))
		} else {
			host.Data = binary.LittleEndian.AppendUint32(host.Data, math.Float32bits(v))
		}
	}
	return host
}

func splitmix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func spread(name string, u float32) float32 {
	switch {
	case strings.HasSuffix(name, "norm.weight"):
		return 1 + u*0.5
	case strings.Contains(name, "embed_tokens"), strings.Contains(name, "lm_head"):
		return u * 0.5
	case strings.HasSuffix(name, ".bias"):
		return u * 0.25
	}
	return u * 0.375
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// openTiny opens a model on the cpu device with o, closed at the test's end.
func openTiny(t testing.TB, m tinyModel, o Options) *Engine {
	t.Helper()
	o, err := o.withDefaults()
	check(t, err)
	return openTinyOn(t, cpu.New(o.Threads), m, o)
}

func openTinyOn(t testing.TB, d tensor.Device, m tinyModel, o Options) *Engine {
	t.Helper()
	o, err := o.withDefaults()
	check(t, err)
	e, err := openOn(d, m.folder(t), o)
	check(t, err)
	t.Cleanup(func() { check(t, e.Close()) })
	return e
}

// generate runs one sequence to its end.
func generate(t testing.TB, e *Engine, prompt []int32, p Params) Generation {
	t.Helper()
	s, err := e.NewSequence(prompt)
	check(t, err)
	defer s.Close()
	g, err := s.Generate(t.Context(), p, nil)
	check(t, err)
	return g
}
