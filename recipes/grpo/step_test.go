package grpo

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/coderl/cr/recipes/checkpoint"
)

// torchSample is a sample as testdata/step.py reads it.
type torchSample struct {
	IDs    []int32  `json:"ids"`
	Spans  [][2]int `json:"spans"`
	Reward float64  `json:"reward"`
	Group  int      `json:"group"`
}

// A whole step, with two epochs of two mini-batches, divergence and entropy,
// ends with the weights that PyTorch and transformers come to from the same
// trajectories and rewards.
func TestStepIsTorchs(t *testing.T) {
	python := os.Getenv("CR_TEST_PYTHON")
	if python == "" {
		t.Skip("CR_TEST_PYTHON names no Python with torch and transformers")
	}
	s := setup{Model: newModel(t), Out: filepath.Join(t.TempDir(), "run"), Settings: []string{
		"reward.own=" + hashReward(t, nil), "batch.epochs=2", "grpo.kl_coef=0.05", "grpo.entropy=0.01", "optim.lr=0.001", "rollout.temperature=0.8",
		"optim.weight_decay=0.1",
	}}
	c, err := s.config()
	check(t, err)
	p, err := NewPlan(c.Recipe, len(c.Train.Problems), 0)
	check(t, err)
	r, err := begin(t.Context(), c, p)
	check(t, err)
	defer func() { check(t, r.close()) }()
	practice, err := r.practise(t.Context())
	check(t, err)
	r.weigh(practice.samples)
	made, err := r.update(t.Context(), practice.samples)
	check(t, err)
	after := filepath.Join(t.TempDir(), "after")
	check(t, os.Mkdir(after, 0o755))
	check(t, r.trainer.Save(after))
	if made.drift.max > 1e-4 || made.drift.pearson < 0.999999 {
		t.Errorf("the sampler's log-probabilities are not the trainer's: %+v", made.drift)
	}

	g, o := c.Recipe.GRPO, c.Recipe.Optim
	var samples []torchSample
	for _, x := range practice.samples {
		ts := torchSample{IDs: x.ids, Reward: x.score.Reward, Group: x.group}
		for _, span := range x.spans {
			ts.Spans = append(ts.Spans, [2]int{span.From, span.To})
		}
		samples = append(samples, ts)
	}
	work := t.TempDir()
	in, out := filepath.Join(work, "step.json"), filepath.Join(work, "out.json")
	text, err := json.Marshal(map[string]any{
		"before": s.Model, "after": after, "samples": samples, "temperature": c.Recipe.Rollout.Temperature,
		"lr": o.LR, "betas": o.Betas, "eps": o.Eps, "weight_decay": o.WeightDecay, "clip": o.Clip,
		"epochs": c.Recipe.Batch.Epochs, "mini": c.Recipe.Batch.Mini, "clip_low": g.ClipLow, "clip_high": g.ClipHigh,
		"dual_clip": g.DualClip, "kl_coef": g.KLCoef, "entropy_coef": g.Entropy,
	})
	check(t, err)
	write(t, in, text)
	if output, err := exec.CommandContext(t.Context(), python, "testdata/step.py", in, out).CombinedOutput(); err != nil {
		t.Fatalf("step.py: %v\n%s", err, output)
	}
	var want struct {
		PG, KL, Weights, Moved float64
		GradNorm               float64 `json:"grad_norm"`
		Tensors                int
	}
	check(t, json.Unmarshal(read(t, out), &want))
	if want.Weights > 1e-4 || want.Moved < 100*want.Weights || want.Tensors == 0 {
		t.Errorf("weights differ by %g of their norm in %d tensors, which the step moved by up to %g", want.Weights, want.Tensors, want.Moved)
	}
	for name, pair := range map[string][2]float64{"pg_loss": {made.pg, want.PG}, "kl_loss": {made.kl, want.KL}, "grad_norm": {made.gradNorm, want.GradNorm}} {
		if math.Abs(pair[0]-pair[1]) > 1e-4*max(1e-2, math.Abs(pair[1])) {
			t.Errorf("%s is %v, torch has %v", name, pair[0], pair[1])
		}
	}
	t.Logf("weights differ by %.2g of their norm, moved by %.2g; pg %.6g, kl %.6g, grad norm %.6g", want.Weights, want.Moved, made.pg, made.kl, made.gradNorm)
	if _, err := os.Stat(filepath.Join(s.Out, checkpoint.RecipeFile)); err != nil {
		t.Error(err)
	}
}
