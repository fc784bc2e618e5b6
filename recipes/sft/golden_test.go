package sft

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/recipes/preset"
)

// golden is testdata/golden.json, made by golden.py with PyTorch.
type golden struct {
	Data []struct {
		IDs   []int32
		Spans [][2]int
	}
	Token, Verl goldenRun
	Schedules   []struct {
		Total  int
		Warmup float64
		Rates  []float64
	}
}

type goldenRun struct {
	Steps []struct {
		Loss, LR float64
		GradNorm float64 `json:"grad_norm"`
	}
	Weights    []float64
	Validation float64
}

func readGolden(t *testing.T) (golden, []examples.Example) {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	var data []examples.Example
	for i, d := range g.Data {
		e := examples.Example{Name: fmt.Sprint("example ", i), IDs: d.IDs}
		for _, s := range d.Spans {
			e.Trained = append(e.Trained, examples.Span{From: s[0], To: s[1]})
		}
		data = append(data, e)
	}
	return g, data
}

func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*max(1e-3, math.Abs(want))
}

// The rate is that of transformers' cosine schedule, the first update's 0 where
// there is a warm-up.
func TestScheduleIsTransformers(t *testing.T) {
	g, _ := readGolden(t)
	for _, want := range g.Schedules {
		s := newRate(preset.Optim{LR: 1e-5, Schedule: "cosine", Warmup: want.Warmup}, want.Total)
		for update, rate := range want.Rates {
			if got := s.At(update); math.Abs(got-rate) > 1e-20 {
				t.Errorf("%d updates, warm-up %v: rate of update %d is %v, want %v", want.Total, want.Warmup, update, got, rate)
			}
		}
	}
}

func TestConstantSchedule(t *testing.T) {
	s := newRate(preset.Optim{LR: 2, Schedule: "constant", Warmup: 0.5}, 4)
	for update, want := range []float64{0, 1, 2, 2, 2, 2} {
		if got := s.At(update); got != want {
			t.Errorf("rate of update %d is %v, want %v", update, got, want)
		}
	}
}

// Losses, norms and weights of a run are PyTorch's, with either norm, however
// the micro-batches are packed.
func TestRunIsPyTorch(t *testing.T) {
	g, data := readGolden(t)
	for norm, want := range map[string]goldenRun{"token": g.Token, "verl": g.Verl} {
		for _, tokens := range []int{4, 40, 1000} {
			t.Run(fmt.Sprint(norm, tokens), func(t *testing.T) {
				var model *bigram
				c := testConfig(t, data, func(b *bigram) { model = b })
				c.Recipe.Loss.Norm, c.Recipe.Batch.Tokens = norm, tokens
				if _, err := Run(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				lines := readMetrics(t, c.Recipe.Train.Out)
				for i, step := range want.Steps {
					for key, value := range map[string]float64{"train/loss": step.Loss, "train/grad_norm": step.GradNorm, "train/lr(1e-3)": 1e3 * step.LR} {
						if got := lines[i][key]; !near(got, value, 1e-5) {
							t.Errorf("step %d: %s is %v, want %v", i+1, key, got, value)
						}
					}
				}
				if got := lines[len(lines)-1]["val/loss"]; !near(got, want.Validation, 1e-5) {
					t.Errorf("validation loss %v, want %v", got, want.Validation)
				}
				for i, w := range want.Weights {
					if !near(model.Table[i], w, 1e-4) {
						t.Fatalf("weight %d is %v, want %v", i, model.Table[i], w)
					}
				}
			})
		}
	}
}
