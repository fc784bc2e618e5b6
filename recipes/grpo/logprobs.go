package grpo

import (
	"context"
	"fmt"
)

// oldLogProbs computes the log-probabilities of what was sampled on the path
// that trains, whose arithmetic need not be the sampler's.
func (r *runner) oldLogProbs(ctx context.Context, all []*sample) error {
	return r.eachMicro(all, func(m micro) error {
		r.tell("old_log_prob", 0)
		logp, entropy, err := r.trainer.LogProbs(ctx, m.batch, r.temperature())
		if err != nil {
			return fmt.Errorf("old log-probabilities: %w", err)
		}
		m.deal(logp, func(s *sample) *[]float32 { return &s.old })
		m.deal(entropy, func(s *sample) *[]float32 { return &s.entropy })
		return nil
	})
}

// referenceLogProbs computes those of the reference: the model that LoRA began
// from, or a frozen copy.
func (r *runner) referenceLogProbs(ctx context.Context, all []*sample) error {
	logProbs := r.trainer.ReferenceLogProbs
	if r.reference != nil {
		logProbs = r.reference.LogProbs
	}
	return r.eachMicro(all, func(m micro) error {
		r.tell("ref", 0)
		logp, _, err := logProbs(ctx, m.batch, r.temperature())
		if err != nil {
			return fmt.Errorf("log-probabilities of the reference: %w", err)
		}
		m.deal(logp, func(s *sample) *[]float32 { return &s.reference })
		return nil
	})
}
