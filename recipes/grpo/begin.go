package grpo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/recipes/checkpoint"
	"github.com/coderl/cr/recipes/preset"
	"github.com/coderl/cr/recipes/rate"
	"github.com/coderl/cr/recipes/reward"
	"github.com/coderl/cr/recipes/runlog"
	"github.com/coderl/cr/runtime"
	"github.com/coderl/cr/runtime/train"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// What a run takes when its settings leave it open.
const (
	defaultConcurrency = 64
	defaultJudges      = 2
)

// runner is a run at work.
type runner struct {
	config    Config
	plan      Plan
	schedule  rate.Schedule
	folder    *checkpoint.Folder
	log       *runlog.Log
	trainer   *train.Trainer
	reference *train.Trainer // nil: none, or the policy without its adapters
	engine    *runtime.Engine
	executor  sandbox.Executor // waits where the given one fails
	judge     *judge.Judge
	sampler   sampler
	state     state
	saved     int  // the step of the newest checkpoint
	torn      bool // the weights lie between two steps
	began     time.Time
	done      int // steps of this process
	live      Progress
	scored    int // answers in live.Score
}

// begin opens the folder, the log and the models, where the last checkpoint left
// them or anew.
func begin(ctx context.Context, c Config, p Plan) (*runner, error) {
	folder, err := checkpoint.Open(c.Recipe.Train.Out)
	if err != nil {
		return nil, err
	}
	r := &runner{config: c, plan: p, folder: folder, state: newState(), began: time.Now(), live: Progress{Score: math.NaN()}}
	if err := r.open(ctx); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *runner) open(ctx context.Context) error {
	steps, err := r.settle()
	if err != nil {
		return err
	}
	o := r.config.Recipe.Optim
	r.schedule = rate.New(o.LR, o.Warmup, o.Schedule, steps)
	if r.config.Steps == 0 {
		r.plan.Last = steps
	}
	if r.saved, err = r.folder.Latest(); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	from := ""
	if r.saved > 0 {
		from = r.folder.Step(r.saved)
		if err := r.restore(from); err != nil {
			return err
		}
	}
	if err := r.clearRollouts(r.state.Step); err != nil {
		return err
	}
	if r.log, err = runlog.Open(r.folder.Path(), r.state.logged(), r.config.Console); err != nil {
		return err
	}
	if gap := r.log.Gap(); gap != "" {
		r.config.note("%s", gap)
	}
	return r.openModels(ctx, from)
}

// settle makes the folder that of the run and returns the steps of its schedule.
func (r *runner) settle() (int, error) {
	recipe, err := preset.YAML(r.config.Recipe)
	if err != nil {
		return 0, err
	}
	now := r.config.manifest(r.plan)
	begun, err := r.folder.Settle(now, recipe, r.config.Resume, r.config.same(now, r.plan))
	return begun.Schedule, err
}

// manifest is what a run begins with.
func (c Config) manifest(p Plan) checkpoint.Manifest {
	return checkpoint.Manifest{
		Version: c.Version, Schedule: p.Schedule, Threads: c.Threads,
		Train: identify(c.Train), Validation: identify(c.Validation), Base: c.Base,
	}
}

// same finds what keeps the run that a folder holds from being this one.
func (c Config) same(now checkpoint.Manifest, p Plan) func(old checkpoint.Manifest, path string) error {
	return checkpoint.Same(preset.LoadRL, c.Recipe, now, p.Last, c.Recipe.Optim.Schedule == "constant")
}

// Check finds, without computing or changing anything, what would keep [Run] from
// working, and what it would find in its folder.
func Check(ctx context.Context, c Config) (checkpoint.Standing, error) {
	p, err := NewPlan(c.Recipe, len(c.Train.Problems), c.Steps)
	if err != nil {
		return checkpoint.Standing{}, err
	}
	found, err := checkpoint.Inspect(c.Recipe.Train.Out, c.Resume, c.same(c.manifest(p), p), new(state))
	if err != nil {
		return found, err
	}
	return found, reward.Reachable(ctx, c.Recipe.Reward)
}

func identify(set datasets.Set) checkpoint.DataID {
	return checkpoint.DataID{Examples: len(set.Problems), SHA256: set.SHA256}
}

// restore takes up a checkpoint's state.
func (r *runner) restore(from string) error {
	if err := checkpoint.ReadState(from, &r.state); err != nil {
		return err
	}
	if err := r.folder.TakenUp(r.saved, r.state.Step, r.state.Marked); err != nil {
		return err
	}
	r.config.note("going on after step %d", r.state.Step)
	return nil
}

// openModels opens the policy, the engine that samples from it in place, and
// the reference where one is needed.
func (r *runner) openModels(ctx context.Context, from string) error {
	if err := reward.Startable(r.config.Recipe.Reward); err != nil {
		return err
	}
	var err error
	if r.trainer, err = r.config.Open(ctx, from); err != nil {
		return err
	}
	recipe := r.config.Recipe
	if recipe.GRPO.KLCoef != 0 && recipe.Model.LoRA.Rank == 0 {
		if r.reference, err = r.config.Reference(ctx); err != nil {
			return fmt.Errorf("reference: %w", err)
		}
	}
	concurrency := cmp.Or(r.config.Concurrency, defaultConcurrency)
	r.engine, err = runtime.Attach(r.trainer, runtime.Options{MaxBatch: concurrency, CacheBytes: r.config.CacheBytes})
	if err != nil {
		return err
	}
	endpoint, err := agent.NewEmbedded(r.engine, true)
	if err != nil {
		return err
	}
	patience := reward.NewPatience(time.Duration(recipe.Reward.Wait)*time.Second, r.config.Note)
	r.executor = patience.Executor(r.config.Executor)
	r.judge = judge.New(r.executor)
	r.sampler = sampler{
		recipe: recipe, endpoint: endpoint, scorer: reward.New(recipe.Reward, r.judge, patience),
		concurrency: concurrency, judges: cmp.Or(r.config.Judges, defaultJudges), tell: r.tellSample,
	}
	r.sampler.tools = r.tools()
	return nil
}

// tools are what the model may call; nil: nothing.
func (r *runner) tools() agent.Toolbox {
	if !r.config.Recipe.Tools.Enable {
		return nil
	}
	return agent.Interpreter{Executor: r.executor}
}

func (r *runner) close() error {
	var errs []error
	if r.engine != nil {
		errs = append(errs, r.engine.Close())
	}
	for _, t := range []*train.Trainer{r.trainer, r.reference} {
		if t != nil {
			errs = append(errs, t.Close())
		}
	}
	if r.log != nil {
		errs = append(errs, r.log.Close())
	}
	return errors.Join(append(errs, r.folder.Close())...)
}
