package train

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/coderl/cr/runtime/cpu"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/weights"
)

// oracleCase is testdata/*/case.json: what oracle.py ran in PyTorch.
type oracleCase struct {
	Steps       int
	LR, Clip    float64
	Temperature float32
	LoRA        *LoRA
	AdamW       struct {
		Beta1, Beta2, Eps float64
		WeightDecay       float64 `json:"weight_decay"`
	}
	Batches []oracleBatch
}

type oracleBatch struct {
	IDs, Positions, Starts, Rows, Targets []int32
	DLogP, DEntropy                       []float32
}

func (b oracleBatch) batch() Batch {
	return Batch{IDs: b.IDs, Positions: b.Positions, Starts: b.Starts, Rows: b.Rows, Targets: b.Targets}
}

// loss has the gradients that the case gives.
func (b oracleBatch) loss(lo, hi int, _, _, dlogp, dentropy []float32) {
	copy(dlogp, b.DLogP[lo:hi])
	copy(dentropy, b.DEntropy[lo:hi])
}

func readCase(t *testing.T, dir string) oracleCase {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "case.json"))
	check(t, err)
	var c oracleCase
	check(t, json.Unmarshal(data, &c))
	return c
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantTensor is one tensor of the oracle's.
func wantTensor(t *testing.T, f *weights.SafetensorsFile, name string) []float32 {
	t.Helper()
	h, err := f.Tensor(name)
	check(t, err)
	return weights.Dequantize(h)
}

// openTensors opens a safetensors file for the length of the test.
func openTensors(t *testing.T, path string) *weights.SafetensorsFile {
	t.Helper()
	f, err := weights.OpenSafetensors(path)
	check(t, err)
	t.Cleanup(func() { check(t, f.Close()) })
	return f
}

// options are the case's.
func (c oracleCase) options() Options {
	return Options{
		LoRA: c.LoRA, ClipNorm: c.Clip,
		AdamW: AdamW{Beta1: c.AdamW.Beta1, Beta2: c.AdamW.Beta2, Eps: c.AdamW.Eps, WeightDecay: c.AdamW.WeightDecay},
	}
}

// open opens a case's model, its adapters where the case has them.
func openCase(t *testing.T, dev tensor.TrainingDevice, dir string, o Options) *Trainer {
	t.Helper()
	trainer, err := OpenOn(t.Context(), dev, dir, o)
	check(t, err)
	t.Cleanup(func() { check(t, trainer.Close()) })
	if o.LoRA != nil {
		adapters := openTensors(t, filepath.Join(dir, "adapters.safetensors"))
		for _, p := range trainer.parameters {
			trainer.dev.Write(p.master, wantTensor(t, adapters, p.name))
			p.refresh(trainer.dev)
		}
	}
	return trainer
}

// runCase trains as the oracle did and compares with it at every stage.
func runCase(t *testing.T, dev tensor.TrainingDevice, dir string, checkpointing bool) {
	t.Helper()
	c := readCase(t, dir)
	o := c.options()
	o.Checkpointing = checkpointing
	trainer := openCase(t, dev, dir, o)
	want := openTensors(t, filepath.Join(dir, "want.safetensors"))
	for step := range c.Steps {
		for i, b := range c.Batches {
			if step == 0 {
				logp, entropy, err := trainer.LogProbs(t.Context(), b.batch(), c.Temperature)
				check(t, err)
				compare(t, "logp", logp, wantTensor(t, want, "logp."+strconv.Itoa(i)))
				compare(t, "entropy", entropy, wantTensor(t, want, "entropy."+strconv.Itoa(i)))
			}
			check(t, trainer.Backward(t.Context(), b.batch(), c.Temperature, b.loss))
		}
		if step == 0 {
			for _, p := range trainer.parameters {
				compare(t, "gradient of "+p.name, read(t, trainer, p.grad), wantTensor(t, want, "grad."+p.name))
			}
		}
		u, err := trainer.Step(c.LR)
		check(t, err)
		// Where a gradient is next to nothing Adam takes its sign, and rounding
		// decides it: the norm of later steps wanders before the weights do.
		within := 1e-4
		if step > 0 {
			within = 1e-2
		}
		if norm := float64(wantTensor(t, want, "norms")[step]); u.Skipped || math.Abs(u.GradNorm/norm-1) > within {
			t.Errorf("step %d: gradient norm %v, want %v", step, u.GradNorm, norm)
		}
	}
	worst := 0.0
	for _, p := range trainer.parameters {
		worst = max(worst, compare(t, "final "+p.name, read(t, trainer, p.master), wantTensor(t, want, "final."+p.name)))
	}
	t.Logf("largest relative difference of a final weight: %.1e", worst)
}

func read(t *testing.T, trainer *Trainer, x tensor.Tensor) []float32 {
	t.Helper()
	values := make([]float32, x.Len())
	check(t, trainer.dev.Read(values, x))
	return values
}

// compare wants two tensors to differ by at most 1e-4 of their norm, and returns
// by how much they do.
func compare(t *testing.T, what string, got, want []float32) float64 {
	t.Helper()
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	var diff, norm float64
	for i, w := range want {
		d := float64(got[i]) - float64(w)
		diff += d * d
		norm += float64(w) * float64(w)
	}
	if !(diff <= 1e-8*norm) {
		t.Errorf("%s: relative difference %.2e", what, math.Sqrt(diff/norm))
	}
	return math.Sqrt(diff / norm)
}

// Gradients, norms, and weights after ten steps are PyTorch's: full and LoRA,
// tied and untied, packed and accumulated, with and without checkpointing.
func TestTrainsAsPyTorch(t *testing.T) {
	dirs, err := filepath.Glob("testdata/*/case.json")
	check(t, err)
	if len(dirs) == 0 {
		t.Fatal("no cases in testdata")
	}
	for _, path := range dirs {
		dir := filepath.Dir(path)
		t.Run(strings.TrimPrefix(dir, "testdata/"), func(t *testing.T) { runCase(t, cpu.New(2), dir, false) })
		t.Run(strings.TrimPrefix(dir, "testdata/")+"-checkpointing", func(t *testing.T) { runCase(t, cpu.New(2), dir, true) })
	}
}
