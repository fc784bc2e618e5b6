package grpo

import (
	"context"
	"math"
	"time"
)

// updated is what the optimiser updates of a step did: sums and means over its
// mini-batches, as verl logs them.
type updated struct {
	pg, kl, ppoKL, clipped, dual float64 // means over mini-batches
	gradNorm                     float64
	updates, skipped             int
	entropy                      float64 // of the policy that sampled
	drift                        drift
	oldTime, refTime, updateTime time.Duration
}

// learnable are the samples that enter the loss.
func learnable(all []*sample) []*sample {
	var some []*sample
	for _, s := range all {
		if s.fate == learnt {
			some = append(some, s)
		}
	}
	return some
}

// minis cuts a step's samples into mini-batches of the recipe's number of
// groups, in order, as verl does without shuffling.
func (r *runner) minis(all []*sample) [][]*sample {
	var minis [][]*sample
	n := 0
	for group := range groupsOf(all) {
		if n%r.config.Recipe.Batch.Mini == 0 {
			minis = append(minis, nil)
		}
		minis[len(minis)-1] = append(minis[len(minis)-1], learnable(group)...)
		n++
	}
	return minis
}

// update makes a step's optimiser updates. Interrupted before the first of them
// it leaves the weights as they were; after that it goes on to its end, for
// weights between two steps are of no use to anyone.
func (r *runner) update(ctx context.Context, all []*sample) (updated, error) {
	var made updated
	minis := r.minis(all)
	// With a single update the policy is still the one that sampled, so that its
	// old log-probabilities are those of the update itself; as in verl.
	onPolicy := len(minis) == 1 && r.config.Recipe.Batch.Epochs == 1
	began := time.Now()
	if !onPolicy {
		if err := r.oldLogProbs(ctx, learnable(all)); err != nil {
			return made, err
		}
	}
	made.oldTime = time.Since(began)
	began = time.Now()
	if r.config.Recipe.GRPO.KLCoef != 0 {
		if err := r.referenceLogProbs(ctx, learnable(all)); err != nil {
			return made, err
		}
	}
	made.refTime = time.Since(began)
	began = time.Now()
	total := len(minis) * r.config.Recipe.Batch.Epochs
	for n := range total {
		r.tell("update", float64(n)/float64(total))
		if made.updates+made.skipped > 0 {
			ctx = context.WithoutCancel(ctx)
		}
		if err := r.updateOnce(ctx, minis[n%len(minis)], onPolicy, &made); err != nil {
			return made, err
		}
	}
	made.finish()
	made.drift = driftOf(learnable(all))
	made.entropy = r.entropy(learnable(all))
	made.updateTime = time.Since(began)
	return made, nil
}

// finish makes means of sums: NaN where there was no update, for zeros would be
// read as figures of one.
func (m *updated) finish() {
	n := float64(m.updates + m.skipped)
	for _, v := range []*float64{&m.pg, &m.kl, &m.ppoKL, &m.clipped, &m.dual} {
		*v /= n
	}
	m.gradNorm /= float64(m.updates)
}

// updateOnce accumulates the gradients of one mini-batch, whatever micro-batches
// it is computed in, and updates the weights.
func (r *runner) updateOnce(ctx context.Context, mini []*sample, onPolicy bool, made *updated) error {
	if len(mini) == 0 {
		return nil
	}
	weights := r.weights(mini)
	objective, total := NewObjective(r.config.Recipe.GRPO), 0
	for _, s := range mini {
		total += len(s.sampler)
	}
	err := r.eachMicro(mini, func(m micro) error {
		if onPolicy {
			for _, s := range m.samples {
				s.old, s.entropy = make([]float32, len(s.sampler)), make([]float32, len(s.sampler))
			}
		}
		return r.trainer.Backward(ctx, m.batch, r.temperature(), func(lo, _ int, logp, entropy, dlogp, dentropy []float32) {
			for i := range logp {
				at := m.rows[lo+i]
				s := m.samples[at.sample]
				if onPolicy {
					s.old[at.token], s.entropy[at.token] = logp[i], entropy[i]
				}
				term := objective.At(s.token(at.token, logp[i], entropy[i]))
				dlogp[i], dentropy[i] = float32(weights[s]*term.DLogP), float32(weights[s]*term.DEntropy)
				made.add(term, weights[s], 1/float64(total))
			}
		})
	})
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.torn = true
	done, err := r.trainer.Step(r.schedule.At(r.state.Step))
	if err != nil {
		return err
	}
	if done.Skipped {
		made.skipped++
		r.config.note("step %d: the gradient's norm is not finite: no weight was changed", r.state.Step+1)
		return nil
	}
	made.updates++
	made.gradNorm += done.GradNorm
	return nil
}

// token is a sampled token of the sample under the models.
func (s *sample) token(i int, logp, entropy float32) Token {
	t := Token{LogP: float64(logp), Old: float64(s.old[i]), Entropy: float64(entropy), Advantage: s.advantage}
	if s.reference != nil {
		t.Reference = float64(s.reference[i])
	}
	return t
}

// add counts a token's term: losses by the token's weight, shares by its share
// of the tokens.
func (m *updated) add(t Term, weight, share float64) {
	m.pg += weight * t.PG
	m.kl += weight * t.KL
	m.ppoKL += share * t.NegativeLogRatio
	if t.Clipped {
		m.clipped += share
	}
	if t.DualClip {
		m.dual += share
	}
}

// weights are the factors of a mini-batch's samples in its loss.
func (r *runner) weights(mini []*sample) map[*sample]float64 {
	lengths := make([]int, len(mini))
	for i, s := range mini {
		lengths[i] = len(s.sampler)
	}
	weights := map[*sample]float64{}
	for i, w := range Weights(r.config.Recipe.GRPO.Aggregate, lengths, r.config.Recipe.Rollout.MaxResponse) {
		weights[mini[i]] = w
	}
	return weights
}

// entropy is the samples' entropy, aggregated as the loss is; NaN of none.
func (r *runner) entropy(all []*sample) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	weights, sum := r.weights(all), 0.0
	for _, s := range all {
		for _, h := range s.entropy {
			sum += weights[s] * float64(h)
		}
	}
	return sum
}

func (r *runner) temperature() float32 { return float32(r.config.Recipe.Rollout.Temperature) }
