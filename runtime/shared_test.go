package runtime

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/coderl/cr/runtime/tensor/strict"
	"github.com/coderl/cr/runtime/train"
)

// An engine that samples from a model in training has, after every update, the
// tokens and log-probabilities of the saved model opened afresh.
func TestSamplesFromTheModelInTraining(t *testing.T) {
	for name, o := range map[string]train.Options{
		"full": {Save: "f32"},
		"lora": {Save: "f32", LoRA: &train.LoRA{Rank: 2, Alpha: 8, Targets: []string{"q_proj", "o_proj", "up_proj"}}},
	} {
		m := tinyModelNamed(t, "qwen3-group4-bias-yarn")
		prompt := m.Runs[1].IDs[:m.Runs[1].Prompt]
		trainer, err := train.OpenOn(t.Context(), strict.New(), m.folder(t), o)
		check(t, err)
		e, err := Attach(trainer, Options{CacheBytes: 1 << 20})
		check(t, err)
		var first []float32
		for round := range 2 {
			params := Params{MaxTokens: 12, IgnoreEOS: true, LogProbs: true}
			got := generate(t, e, prompt, params)
			saved := filepath.Join(t.TempDir(), "model")
			check(t, os.Mkdir(saved, 0o755))
			check(t, trainer.SaveModel(t.Context(), saved))
			fresh, err := openOn(strict.New(), saved, e.options)
			check(t, err)
			want := generate(t, fresh, prompt, params)
			if !slices.Equal(got.IDs, want.IDs) || !slices.Equal(got.LogProbs, want.LogProbs) {
				t.Errorf("%s, round %d:\n%v %v, the saved model has\n%v %v", name, round, got.IDs, got.LogProbs, want.IDs, want.LogProbs)
			}
			check(t, fresh.Close())
			if round > 0 && slices.Equal(got.LogProbs, first) {
				t.Errorf("%s: the update changed nothing", name)
			}
			first = got.LogProbs
			learn(t, trainer, prompt)
			check(t, e.Renew())
		}
		check(t, e.Close())
		check(t, trainer.Close())
	}
}

// learn makes one update on a text.
func learn(t *testing.T, trainer *train.Trainer, ids []int32) {
	t.Helper()
	b := train.Batch{IDs: ids, Starts: []int32{0, int32(len(ids))}, Targets: ids[1:]}
	for i := range ids {
		b.Positions = append(b.Positions, int32(i))
	}
	b.Rows = b.Positions[:len(ids)-1]
	check(t, trainer.Backward(t.Context(), b, 1, func(_, _ int, _, _, dlogp, _ []float32) {
		for i := range dlogp {
			dlogp[i] = -1
		}
	}))
	_, err := trainer.Step(0.01)
	check(t, err)
}
