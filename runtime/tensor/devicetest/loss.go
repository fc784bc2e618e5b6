package devicetest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/reference"
)

// lossScene is the inputs of one call of LogProbs and of its gradient.
type lossScene struct {
	logits, dlogp, dentropy []float32
	targets                 []int32
	vocab                   int
	temperature             float32
}

// check computes the scene on the device, with and without the entropy.
func (h *trainer) checkLoss(s lossScene) {
	h.Helper()
	n, what := len(s.targets), fmt.Sprintf("%d rows of %d at %v", len(s.targets), s.vocab, s.temperature)
	logp, lse, entropy := make([]float32, n), make([]float32, n), make([]float32, n)
	reference.LogProbs(logp, lse, entropy, s.logits, s.targets, s.temperature)

	none := tensor.Tensor{}
	logits, targets := h.put(s.logits, n, s.vocab), h.ints(s.targets...)
	outP, outLSE, outEntropy := h.new(tensor.F32, n), h.new(tensor.F32, n), h.new(tensor.F32, n)
	h.d.LogProbs(outP, outLSE, none, logits, targets, s.temperature)
	h.near(h.read(outP), logp, 2e-6, what+": logp alone")
	h.d.LogProbs(outP, outLSE, outEntropy, logits, targets, s.temperature)
	h.near(h.read(outP), logp, 2e-6, what+": logp")
	h.near(h.read(outLSE), lse, 2e-6, what+": lse")
	h.near(h.read(outEntropy), entropy, 2e-6, what+": entropy")

	alone, both := slices.Clone(s.logits), slices.Clone(s.logits)
	reference.LogProbsGrad(alone, lse, nil, s.targets, s.dlogp, nil, s.temperature)
	reference.LogProbsGrad(both, lse, entropy, s.targets, s.dlogp, s.dentropy, s.temperature)
	dlogp := h.put(s.dlogp, n)
	h.d.LogProbsGrad(logits, outLSE, outEntropy, targets, dlogp, h.put(s.dentropy, n), s.temperature)
	h.near(h.read(logits), both, 1e-5, what+": gradient with entropy")
	h.d.Write(logits, s.logits)
	h.d.LogProbsGrad(logits, outLSE, none, targets, dlogp, none, s.temperature)
	h.near(h.read(logits), alone, 1e-5, what+": gradient")
}

func testLogProbs(h *trainer) {
	for _, vocab := range []int{1, 16, 17, 1000, 5003} {
		for _, n := range []int{0, 1, 3} {
			s := lossScene{vocab: vocab, logits: h.values(n * vocab), dlogp: h.values(n), dentropy: h.values(n)}
			for range n {
				s.targets = append(s.targets, int32(h.rng.IntN(vocab)))
			}
			for i := range s.logits {
				s.logits[i] *= 4
			}
			for _, s.temperature = range []float32{1, 0.6, 1.7} {
				h.checkLoss(s)
			}
		}
	}
}

// testLogProbsExtremes has rows that are far from zero, or nearly certain, and a
// target that is nearly impossible.
func testLogProbsExtremes(h *trainer) {
	const vocab = 40
	s := lossScene{
		vocab: vocab, temperature: 1, targets: []int32{3, 3, 39, 0},
		logits: h.values(4 * vocab), dlogp: []float32{1, 1, 1, 0}, dentropy: make([]float32, 4),
	}
	for i := range vocab {
		s.logits[i] += 1000
		s.logits[vocab+i] -= 1000
	}
	s.logits[2*vocab] = 60
	s.logits[3*vocab] = 50
	n := len(s.targets)
	logits, logp, lse := h.put(s.logits, n, vocab), h.new(tensor.F32, n), h.new(tensor.F32, n)
	targets := h.ints(s.targets...)
	h.d.LogProbs(logp, lse, tensor.Tensor{}, logits, targets, 1)
	want, wantLSE := make([]float32, n), make([]float32, n)
	reference.LogProbs(want, wantLSE, nil, s.logits, s.targets, 1)
	// A sum of about a thousand has steps of 2⁻¹⁴.
	h.near(h.read(logp), want, 7e-5, "logp")
	h.near(h.read(lse), wantLSE, 2e-7, "lse")
	h.d.LogProbsGrad(logits, lse, tensor.Tensor{}, targets, h.put(s.dlogp, n), tensor.Tensor{}, 1)
	reference.LogProbsGrad(s.logits, wantLSE, nil, s.targets, s.dlogp, nil, 1)
	h.near(h.read(logits), s.logits, 1e-4, "gradient")

	bad := h.put([]float32{1, float32(math.NaN()), 2}, 1, 3)
	h.d.LogProbs(logp.Rows(0, 1), lse.Rows(0, 1), tensor.Tensor{}, bad, h.ints(0), 1)
	if got := h.read(logp.Rows(0, 1))[0]; got == got {
		h.Errorf("logp over a NaN is %v", got)
	}
}

func testTrainingShapeErrors(h *trainer) {
	a, b, one := h.new(tensor.F32, 2, 4), h.new(tensor.F32, 3, 5), h.new(tensor.F32, 1)
	two, ids, brain := h.new(tensor.F32, 2), h.ints(0, 1), h.new(tensor.BF16, 2, 4)
	q, k, norm := h.new(tensor.F32, 2, 4, 6), h.new(tensor.F32, 2, 2, 6), h.new(tensor.F32, 2, 4)
	none, step := tensor.Tensor{}, tensor.AdamWStep{Step: 1}
	packed := func(starts ...int32) tensor.PackedBatch { return tensor.PackedBatch{Starts: starts, Scale: 1} }
	type call struct {
		op  string
		run func()
	}
	calls := []call{
		{"Convert", func() { h.d.Convert(brain, b) }},
		{"Convert", func() { h.d.Convert(ids, ids) }},
		{"AddScaled", func() { h.d.AddScaled(a, b, 1) }},
		{"AddScaled", func() { h.d.AddScaled(brain, a, 1) }},
		{"AddRows", func() { h.d.AddRows(a, b, ids) }},
		{"AddRows", func() { h.d.AddRows(a, a, h.ints(0)) }},
		{"SumRows", func() { h.d.SumRows(two, a) }},
		{"MatMulGradX", func() { h.d.MatMulGradX(a, a, b) }},
		{"MatMulGradW", func() { h.d.MatMulGradW(a, a, b) }},
		{"RMSNormGrad", func() { h.d.RMSNormGrad(a, none, a, a, two, 1e-5) }},
		{"RMSNormGrad", func() { h.d.RMSNormGrad(a, two, a, a, h.new(tensor.F32, 4), 1e-5) }},
		{"SiLUMulGrad", func() { h.d.SiLUMulGrad(a, a, a, a, b) }},
		{"PackedAttention", func() { h.d.PackedAttention(q, two, q, k, k, packed(0, 2)) }},
		{"PackedAttention", func() { h.d.PackedAttention(q, norm, q, k, k, packed()) }},
		{"PackedAttention", func() { h.d.PackedAttention(q, norm, q, k, k, packed(1, 2)) }},
		{"PackedAttention", func() { h.d.PackedAttention(q, norm, q, k, k, packed(0, 1)) }},
		{"PackedAttention", func() { h.d.PackedAttention(q, norm, q, k, k, packed(0, 3, 2)) }},
		{"PackedAttentionGrad", func() { h.d.PackedAttentionGrad(q, q, k, q, q, norm, q, k, k, packed(0, 2)) }},
		{"LogProbs", func() { h.d.LogProbs(two, one, none, a, ids, 1) }},
		{"LogProbs", func() { h.d.LogProbs(two, two, none, a, ids, 0) }},
		{"LogProbs", func() { h.d.LogProbs(two, two, one, a, ids, 1) }},
		{"LogProbsGrad", func() { h.d.LogProbsGrad(a, two, none, ids, one, none, 1) }},
		{"LogProbsGrad", func() { h.d.LogProbsGrad(a, two, none, ids, two, two, 1) }},
		{"SumSquares", func() { h.d.SumSquares(two, a) }},
		{"AdamW", func() { h.d.AdamW(a, b, a, a, step) }},
		{"AdamW", func() { h.d.AdamW(a, a, a, a, tensor.AdamWStep{}) }},
	}
	for i, c := range calls {
		c.run()
		err := h.d.Sync()
		var shape *tensor.ShapeError
		if !errors.As(err, &shape) || shape.Op != c.op {
			h.Errorf("call %d, %s on operands that do not fit: %v", i, c.op, err)
		}
	}
}

func testTrainingDataErrors(h *trainer) {
	a, b, two, norm := h.new(tensor.F32, 2, 4), h.new(tensor.F32, 3, 4), h.new(tensor.F32, 2), h.new(tensor.F32, 2)
	weight, none := h.load(tensor.F32, make([]byte, 2*4*4), 2, 4), tensor.Tensor{}
	calls := map[string]func(){
		"AddRows past the end":      func() { h.d.AddRows(b, a, h.ints(0, 3)) },
		"AddRows of a negative row": func() { h.d.AddRows(b, a, h.ints(-1, 0)) },
		"a target past the end":     func() { h.d.LogProbs(two, norm, none, a, h.ints(0, 4), 1) },
		"a negative target":         func() { h.d.LogProbsGrad(a, two, none, h.ints(-1, 0), norm, none, 1) },
		"Zero of a weight":          func() { h.d.Zero(weight) },
		"AddScaled into a weight":   func() { h.d.AddScaled(weight, a, 1) },
		"no gradient to add to":     func() { h.d.MatMulGradW(tensor.Tensor{Shape: []int{4, 4}}, a, weight) },
	}
	for name, call := range calls {
		call()
		if err := h.d.Sync(); err == nil {
			h.Errorf("%s: no error", name)
		}
	}
}
