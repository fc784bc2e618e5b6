package logs

import (
	"math"
	"regexp"

	"github.com/coderl/cr/recipes/logs/chart"
)

// quantity is something to show, and the metrics that it goes by in the versions
// of verl and cr, the first that a run has.
type quantity struct {
	title   string
	unit    string
	metrics []string
	share   bool // between 0 and 1
}

// metricOf is the metric that a run logs a quantity under; empty without one.
func (r *Run) metricOf(q quantity) string {
	for _, m := range q.metrics {
		if r.Has(m) {
			return m
		}
	}
	return ""
}

// series is a metric over the steps, broken where it is not finite and, unless
// connect, where a restart left out steps.
func (r *Run) series(name string, value func(Row) (float64, bool), connect bool) chart.Series {
	s := chart.Series{Name: name, Smooth: true}
	gap := false
	for _, row := range r.Rows {
		gap = gap || row.Gap && !connect
		v, ok := value(row)
		if !ok {
			continue
		}
		if gap && len(s.Points) > 0 {
			s.Points = append(s.Points, chart.Gap(float64(row.Step)))
		}
		gap = false
		s.Points = append(s.Points, chart.Point{X: float64(row.Step), Y: v})
	}
	return s
}

// metric reads one metric of a row.
func (r *Run) metric(name string) func(Row) (float64, bool) {
	return func(row Row) (float64, bool) { return r.Value(row, name) }
}

// Quantity is the series of one of a run's headline quantities, empty where the
// run has none of its metrics.
func (r *Run) quantitySeries(name string, q quantity, connect bool) chart.Series {
	m := r.metricOf(q)
	if m == "" {
		return chart.Series{Name: name}
	}
	return r.series(name, r.metric(m), connect)
}

// validation is a score of a validation: val-core/SOURCE/VARIABLE/mean@N, or what
// older versions had for it.
type validation struct {
	metric   string
	source   string
	variable string // with "mean@N"
}

// parseValidation splits the name of a validation's score.
func parseValidation(metric string) (validation, bool) {
	core := regexp.MustCompile(`^val-core/(.+)/([^/]+)/(mean@\d+)$`)
	if m := core.FindStringSubmatch(metric); m != nil {
		return validation{metric, m[1], m[2] + ", " + m[3]}, true
	}
	old := regexp.MustCompile(`^val/test_score/(.+)$`)
	if m := old.FindStringSubmatch(metric); m != nil {
		return validation{metric, m[1], "score"}, true
	}
	if metric == "val/loss" {
		return validation{metric, "validation loss", "nats per token"}, true
	}
	return validation{}, false
}

// validations are the scores that a collection's runs logged, in the order of the
// columns.
func (l *Logs) validations() []validation {
	var all []validation
	for _, c := range l.Columns {
		if v, ok := parseValidation(c); ok {
			all = append(all, v)
		}
	}
	return all
}

// overall is the mean of the scores that a row has of the given ones; ok is false
// without any.
func (r *Run) overall(of []validation) func(Row) (float64, bool) {
	return func(row Row) (float64, bool) {
		sum, n := 0.0, 0
		for _, v := range of {
			if score, ok := r.Value(row, v.metric); ok {
				sum += score
				n++
			}
		}
		return sum / float64(n), n > 0
	}
}

// isSpeculative says whether a run logged anything of speculative decoding.
func (r *Run) isSpeculative() bool {
	return r.LooseWindows > 0 || r.metricOf(acceptanceRate()) != "" || r.metricOf(acceptanceLength()) != ""
}

func acceptanceRate() quantity {
	return quantity{"Acceptance rate", "accepted / drafted tokens", []string{"spec_decode/draft_acceptance_rate", "rollout/spec_accept_rate"}, true}
}

func acceptanceLength() quantity {
	return quantity{"Acceptance length", "tokens per verification", []string{"spec_decode/mean_acceptance_length", "rollout/spec_accept_length", "drafter/spec_decode/mean_acceptance_length"}, false}
}

func reward() quantity {
	return quantity{"Reward", "mean score", []string{"critic/score/mean", "critic/rewards/mean"}, false}
}

func throughput() quantity {
	return quantity{"Throughput", "tokens/s per device", []string{"perf/throughput"}, false}
}

func stepTime() quantity {
	return quantity{"Time per step", "seconds", []string{"perf/time_per_step", "timing_s/step", "train/time(s)"}, false}
}

func generationTime() quantity {
	return quantity{"Generation time", "seconds per step", []string{"timing_s/gen"}, false}
}

// progress are the quantities of the training figure: those of reinforcement
// learning, then those of supervised fine-tuning.
func progress() []quantity {
	return []quantity{
		reward(),
		{"Response length", "tokens", []string{"response_length/mean"}, false},
		{"Cut-off responses", "share at the limit", []string{"response_length/clip_ratio"}, false},
		{"Turns", "per sample", []string{"num_turns/mean", "training/num_turns/mean"}, false},
		{"Entropy", "nats per token", []string{"actor/entropy", "actor/entropy_loss"}, false},
		{"KL to the reference", "KL loss", []string{"actor/kl_loss", "actor/reward_kl_penalty"}, false},
		{"Loss", "nats per token", []string{"train/loss"}, false},
		{"Gradient norm", "before clipping", []string{"actor/grad_norm", "train/grad_norm"}, false},
		{"Learning rate", "per step", []string{"train/lr", "train/lr(1e-3)"}, false},
		stepTime(),
		throughput(),
	}
}

// ratio is the sum of a metric over another run's, over the steps at which both
// logged it, and how many those are: speed-up = Σ run / Σ baseline for rates,
// Σ baseline / Σ run for times.
func ratio(run, baseline *Run, metric string) (value float64, steps int) {
	values := map[int64]float64{}
	for _, row := range baseline.Rows {
		if v, ok := baseline.Value(row, metric); ok && isFinite(v) {
			values[row.Step] = v
		}
	}
	sum, base := 0.0, 0.0
	for _, row := range run.Rows {
		v, ok := run.Value(row, metric)
		if b, both := values[row.Step]; ok && both && isFinite(v) {
			sum, base, steps = sum+v, base+b, steps+1
		}
	}
	if base == 0 {
		return math.NaN(), 0
	}
	return sum / base, steps
}
