package runtime

import (
	"math"
	"slices"
	"testing"
)

// tolerance of log-probabilities against transformers in float32.
const tolerance = 1e-4

// Greedy tokens, their log-probabilities, and scores are those of transformers
// on Qwen3 and Llama models of odd shapes.
func TestModelsAgreeWithTransformers(t *testing.T) {
	for _, m := range tinyModels(t) {
		t.Run(m.Name, func(t *testing.T) {
			e := openTiny(t, m, Options{})
			for _, run := range m.Runs {
				prompt, want := run.IDs[:run.Prompt], run.IDs[run.Prompt:]
				g := generate(t, e, prompt, Params{MaxTokens: len(want), IgnoreEOS: true, LogProbs: true})
				if !slices.Equal(g.IDs, want) {
					t.Fatalf("prompt of %d: tokens\n%v, want\n%v", run.Prompt, g.IDs, want)
				}
				compareLogProbs(t, g.LogProbs, run.Scores[run.Prompt-1:])
				scores, err := e.Score(t.Context(), run.IDs)
				check(t, err)
				compareLogProbs(t, scores, run.Scores)
			}
		})
	}
}

func compareLogProbs(t *testing.T, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d log-probabilities, want %d", len(got), len(want))
	}
	var worst float64
	for i := range got {
		worst = max(worst, math.Abs(float64(got[i])-want[i]))
	}
	t.Logf("largest difference of a log-probability: %.2g", worst)
	if !(worst <= tolerance) {
		t.Errorf("a log-probability differs by %g, more than %g", worst, tolerance)
	}
}

// bf16 files converted to f32 hold the same values, so nothing changes but the
// kernel's rounding.
func TestConvertedWeightsAgree(t *testing.T) {
	m := tinyModelNamed(t, "qwen3-group2-bf16")
	run := m.Runs[1]
	for _, dtype := range []string{"f32", "bf16"} {
		e := openTiny(t, m, Options{DType: dtype})
		scores, err := e.Score(t.Context(), run.IDs)
		check(t, err)
		compareLogProbs(t, scores, run.Scores)
	}
}
