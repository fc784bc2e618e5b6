package grpo

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/coderl/cr/recipes/runlog"
	"github.com/coderl/cr/sandbox"
)

// scoreMean is the metric of the mean score.
const scoreMean = "critic/score/mean"

// figures are a step's metrics under verl's names and in its order, but for what
// depends on the clock. Those under reward/ are ours.
func (r *runner) figures(p round, m updated) []figure {
	d, g := m.drift, r.config.Recipe.GRPO
	all := []figure{
		number("actor/entropy", m.entropy),
		count("training/rollout_probs_diff_valid", min(1, d.tokens)),
		number("training/rollout_probs_diff_max", d.probMax),
		number("training/rollout_probs_diff_mean", d.probMean),
		number("training/rollout_probs_diff_std", d.probSD),
		number("training/rollout_actor_probs_pearson_corr", d.pearson),
		number("rollout_corr/kl", d.kl),
		number("rollout_corr/k3_kl", d.k3),
		number("rollout_corr/log_prob_abs_diff_mean", d.mean),
		number("rollout_corr/log_prob_abs_diff_max", d.max),
		number("actor/pg_clipfrac", m.clipped),
		number("actor/ppo_kl", m.ppoKL),
		number("actor/pg_clipfrac_lower", m.dual),
	}
	if g.KLCoef != 0 {
		all = append(all, number("actor/kl_loss", m.kl), number("actor/kl_coef", g.KLCoef))
	}
	all = append(all,
		number("actor/pg_loss", m.pg), number("actor/grad_norm", m.gradNorm),
		count("actor/updates", m.updates), number("actor/lr", r.schedule.At(r.state.Step)),
		count("training/global_step", r.state.Step+1), count("training/epoch", r.state.Drawn/max(1, r.plan.PerEpoch*r.config.Recipe.Rollout.Prompts)))
	all = append(all, r.answers(p.samples)...)
	return append(all, rewards(p, r.config.Recipe.Reward.Own != "")...)
}

// answers are the metrics of what was sampled.
func (r *runner) answers(samples []*sample) []figure {
	var scores, advantages, responses, prompts, turns, calls, whole []float64
	longest, clipped, clippedPrompts := r.config.Recipe.Rollout.MaxResponse, 0.0, 0.0
	for _, s := range samples {
		if s.fate != dropped {
			scores = append(scores, s.score.Reward)
		}
		if s.fate == learnt {
			advantages = append(advantages, s.advantage)
		}
		n := float64(s.response())
		responses, prompts = append(responses, n), append(prompts, float64(s.episode.PromptTokens))
		if n > 0 {
			whole = append(whole, n)
		}
		if s.response() >= longest {
			clipped++
		}
		if s.episode.PromptTokens >= r.config.Recipe.Data.MaxPrompt {
			clippedPrompts++
		}
		turns, calls = append(turns, float64(s.turns())), append(calls, float64(s.episode.ToolCalls))
	}
	n := float64(max(1, len(samples)))
	var all []figure
	all = append(all, spread("critic/score", scores)...)
	all = append(all, spread("critic/rewards", scores)...)
	all = append(all, spread("critic/advantages", advantages)...)
	all = append(all, spread("critic/returns", advantages)...)
	all = append(all, spread("response_length", responses)...)
	all = append(all, number("response_length/clip_ratio", clipped/n))
	all = append(all, spread("response_length_non_aborted", whole)...)
	all = append(all, number("response_length_non_aborted/clip_ratio", clipped/float64(max(1, len(whole)))))
	all = append(all, number("response/aborted_ratio", 1-float64(len(whole))/n))
	all = append(all, spread("prompt_length", prompts)...)
	all = append(all, number("prompt_length/clip_ratio", clippedPrompts/n))
	all = append(all, spread("num_turns", turns)...)
	return append(all, spread("tool_call_counts", calls)...)
}

// spread is the mean, the greatest and the least of some values.
func spread(key string, values []float64) []figure {
	if len(values) == 0 {
		none := math.NaN()
		return []figure{number(key+"/mean", none), number(key+"/max", none), number(key+"/min", none)}
	}
	return []figure{number(key+"/mean", mean(values)), number(key+"/max", slices.Max(values)), number(key+"/min", slices.Min(values))}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// rewards say why answers are worth what they are, and what policies did. Where
// a reward of one's own takes the tests' place, nobody knows which pass them.
func rewards(p round, byOwn bool) []figure {
	var solved, code, bonus, kept float64
	var cut, noCode, out, hidden int
	own := map[string][]float64{}
	for _, s := range p.samples {
		if s.failure == nil && s.score.Verdict != sandbox.InvalidTask {
			kept++
			code += s.score.Code
			bonus += s.score.Bonus
			if s.score.Verdict == sandbox.AC {
				solved++
			}
			if s.score.Cut {
				cut++
			}
			if s.noCode() {
				noCode++
			}
		}
		switch s.fate {
		case dropped:
			out++
		case masked:
			hidden++
		}
		for name, v := range s.score.Metrics {
			own[name] = append(own[name], v)
		}
	}
	var all []figure
	if !byOwn {
		all = append(all, number("reward/acc", solved/kept))
	}
	all = append(all,
		number("reward/code_score", code/kept), number("reward/tool_call_bonus", bonus/kept),
		count("reward/answers", p.sampled), count("reward/infra_errors", p.infra), count("reward/invalid_tasks", p.invalid),
		count("reward/truncated", cut), count("reward/no_code", noCode), count("reward/dropped", out), count("reward/masked", hidden),
		number("reward/sampled_score/mean", mean(p.worth)), count("reward/groups", p.groups), count("reward/uniform_groups", p.uniform),
	)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		all = append(all, number("reward/own/"+name, mean(own[name])))
	}
	return all
}

// times are how long the phases of a step took.
type times struct {
	step, generate, judge, adv, old, ref, update, renew time.Duration
	busy                                                float64 // seconds that the engine computed
}

// metrics are verl's names for them. perf/overhead is the share of the step that
// no phase accounts for; perf/engine_busy that of generation in which the engine
// computed, the rest being waits for tools and programs.
func (t times) metrics(samples []*sample) []runlog.Metric {
	response, all := 0, tokensOf(samples)
	for _, s := range samples {
		response += s.response()
	}
	phases := t.generate + t.judge + t.adv + t.old + t.ref + t.update + t.renew
	perToken := func(key string, d time.Duration, tokens int64) runlog.Metric {
		return runlog.Clock("timing_per_token_ms/"+key, 1e3*d.Seconds()/float64(max(1, tokens)))
	}
	return append(agentTimes(samples),
		runlog.Clock("timing_s/gen", t.generate.Seconds()), runlog.Clock("timing_s/reward", t.judge.Seconds()),
		runlog.Clock("timing_s/old_log_prob", t.old.Seconds()), runlog.Clock("timing_s/ref", t.ref.Seconds()),
		runlog.Clock("timing_s/adv", t.adv.Seconds()), runlog.Clock("timing_s/update_actor", t.update.Seconds()),
		runlog.Clock("timing_s/update_weights", t.renew.Seconds()), runlog.Clock("timing_s/step", t.step.Seconds()),
		perToken("gen", t.generate, int64(response)), perToken("update_actor", t.update, all),
		runlog.Clock("perf/total_num_tokens", float64(all)), runlog.Clock("perf/time_per_step", t.step.Seconds()),
		runlog.Clock("perf/throughput", float64(all)/t.step.Seconds()),
		runlog.Clock("perf/engine_busy", t.busy/max(1e-9, t.generate.Seconds())),
		runlog.Clock("perf/overhead", max(0, t.step-phases).Seconds()/t.step.Seconds()),
	)
}

// agentTimes are how long answers took to write and their tools to run, and what
// the slowest of them was like; its lengths are tokens, under verl's names.
func agentTimes(samples []*sample) []runlog.Metric {
	var writing, calling []float64
	var slowest *sample
	for _, s := range samples {
		writing, calling = append(writing, s.writing.Seconds()), append(calling, s.calling.Seconds())
		if slowest == nil || s.writing+s.calling > slowest.writing+slowest.calling {
			slowest = s
		}
	}
	all := slices.Concat(clocks("timing_s/agent_loop/generate_sequences", writing), clocks("timing_s/agent_loop/tool_calls", calling))
	if slowest == nil {
		return all
	}
	return append(all,
		runlog.Clock("timing_s/agent_loop/slowest/generate_sequences", slowest.writing.Seconds()),
		runlog.Clock("timing_s/agent_loop/slowest/tool_calls", slowest.calling.Seconds()),
		runlog.Clock("timing_s/agent_loop/slowest/prompt_length", float64(slowest.episode.PromptTokens)),
		runlog.Clock("timing_s/agent_loop/slowest/response_length", float64(slowest.response())))
}

// clocks is the spread of some times.
func clocks(key string, seconds []float64) []runlog.Metric {
	var metrics []runlog.Metric
	for _, f := range spread(key, seconds) {
		metrics = append(metrics, runlog.Clock(f.Key, float64(f.Value)))
	}
	return metrics
}

// tokensOf is the tokens of all sequences, prompts included.
func tokensOf(samples []*sample) int64 {
	n := 0
	for _, s := range samples {
		n += s.episode.PromptTokens + s.response()
	}
	return int64(n)
}

func metricsOf(figures []figure) []runlog.Metric {
	metrics := make([]runlog.Metric, len(figures))
	for i, f := range figures {
		metrics[i] = f.metric()
	}
	return metrics
}
