package grpo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/coderl/cr/eval"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/sandbox/judge"
)

// evalDir holds the run folders of the validations, global_step_N each.
const evalDir = "eval"

// validate evaluates the policy as cr eval does, into a run folder of its own.
func (r *runner) validate(ctx context.Context, step int) ([]figure, error) {
	endpoint, err := agent.NewEmbedded(r.engine, false)
	if err != nil {
		return nil, err
	}
	r.tell("validate", 0)
	config := r.evaluation(step)
	deps := eval.Deps{
		Set: r.config.Validation, Endpoint: endpoint, Tools: r.tools(), Judge: r.judge, Notice: r.config.Note,
		Progress: func(p eval.Progress) { r.tell("validate", float64(p.Done)/float64(max(1, p.Total))) },
	}
	results, err := eval.Run(ctx, config, deps)
	if errors.Is(err, eval.ErrSettingsDiffer) {
		// What a killed process left was made by other arithmetic, such as that of
		// another number of threads.
		if err := os.RemoveAll(config.Out); err != nil {
			return nil, err
		}
		results, err = eval.Run(ctx, config, deps)
	}
	if err != nil {
		return nil, fmt.Errorf("validate: %w", err)
	}
	if results.InfraErrors > 0 && r.config.Recipe.Reward.Infra == "stop" {
		return nil, fmt.Errorf("%w the validation: %d of %d answers could not be", errJudging, results.InfraErrors, results.Samples)
	}
	r.state.PassAt1 = checkpoint.Exact(passAt(results.Figures, 1))
	r.state.Partial = results.InfraErrors > 0
	if math.IsNaN(float64(r.state.PassAt1)) {
		r.config.note("step %d: none of the %d answers of the validation could be judged; its pass@1 is not known", step, results.Samples)
	}
	return validationFigures(r.config.Validation.Name, config.N, results), nil
}

// validated tells whether the last validation's pass@1 is that of all its answers,
// and can be held against others'.
func (r *runner) validated() bool {
	return !r.state.Partial && !math.IsNaN(float64(r.state.PassAt1))
}

// passAt is pass@k, NaN where too few answers could be judged.
func passAt(f eval.Figures, k int) float64 {
	if found, ok := f.PassAtK[strconv.Itoa(k)]; ok {
		return found.Value
	}
	return math.NaN()
}

// compare holds the last validation against the rewards, and tells where they
// disagree.
func (r *runner) compare() []figure {
	if !r.validated() {
		return nil
	}
	g, ok := r.state.Agreement.validated(float64(r.state.PassAt1))
	if !ok {
		return nil
	}
	if g.disagree() {
		r.config.note("step %d: rewards rose from %.3f to %.3f, but pass@1 in validation went from %.3f to %.3f: the reward may be earned without solving problems, see rollouts/%d.jsonl",
			r.state.Step, g.from.mean(), g.to.mean(), g.passFrom, g.pass, r.state.Step)
	}
	return g.figures()
}

// evaluation is the configuration of a validation.
func (r *runner) evaluation(step int) eval.Config {
	recipe := r.config.Recipe
	v, isolation := recipe.Validate, r.executor.Isolation()
	return eval.Config{
		Benchmark: "livecodebench", N: v.N, Budgets: budgets(recipe), Thinking: true,
		Sampling: agent.Sampling{Temperature: v.Temperature, TopP: v.TopP, TopK: v.TopK, RepetitionPenalty: 1, Seed: recipe.Seed},
		Extract:  eval.Rule(recipe.Reward.Extract), Compare: judge.Strict,
		Extra: []eval.Setting{
			{Name: "sandbox", Value: isolation.Tier},
			{Name: "interpreter", Value: isolation.Interpreter},
			{Name: "threads", Value: r.config.Threads},
			{Name: "weights", Value: r.engine.Fingerprint()},
			{Name: "step", Value: step},
		},
		Out:    filepath.Join(r.folder.Path(), evalDir, "global_step_"+strconv.Itoa(step)),
		Resume: true, Concurrency: r.sampler.concurrency, Judges: r.sampler.judges, Version: r.config.Version,
	}
}

// validationFigures are a validation's metrics under verl's names: acc is whether
// all tests pass, reward the share of tests.
func validationFigures(source string, n int, results eval.Results) []figure {
	core, aux := "val-core/"+source+"/", "val-aux/"+source+"/"
	all := []figure{number(fmt.Sprintf("%sacc/mean@%d", core, n), passAt(results.Figures, 1))}
	if n > 1 {
		all = append(all, number(fmt.Sprintf("%sacc/best@%d/mean", core, n), passAt(results.Figures, n)))
	}
	// Data of several sources also has a figure for each, as verl's has.
	if sources := results.By["platform"]; len(sources) > 1 {
		for _, name := range slices.Sorted(maps.Keys(sources)) {
			all = append(all, number(fmt.Sprintf("val-core/%s/acc/mean@%d", name, n), passAt(sources[name].Figures, 1)))
		}
	}
	answers, share := float64(max(1, results.Samples)), results.MeanTestShare
	if math.IsNaN(passAt(results.Figures, 1)) {
		share = math.NaN()
	}
	return append(all,
		number(fmt.Sprintf("%sreward/mean@%d", aux, n), share),
		number("val-aux/num_turns/mean", 2*float64(results.Turns)/answers),
		number("val-aux/response_length/mean", float64(results.Tokens.Completion+results.Tokens.Tool)/answers),
		count("val-aux/infra_errors", results.InfraErrors))
}
