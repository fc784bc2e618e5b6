package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/eval"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// defaultConcurrency is how many conversations run at once. The engine gives
// the place of one that waits for a tool to another.
const defaultConcurrency = 16

type livecodebenchCmd struct {
	modelFlags    `embed:""`
	serverFlags   `embed:""`
	samplingFlags `embed:""`
	dataFlags     `embed:""`
	executorFlags `embed:""`
	stepsFlags    `embed:""`

	N          int    `short:"n" name:"n" default:"4" help:"Samples of each problem."`
	MaxTokens  int    `default:"32768" help:"Response budget over all turns, tool replies included; clipped to the model's context."`
	Tools      bool   `negatable:"" default:"true" help:"Offer the code tool."`
	MaxTurns   int    `default:"16" help:"Most turns of the model."`
	ToolOutput int    `default:"4096" help:"Characters of a tool's reply that the model sees; head and tail are kept."`
	Thinking   bool   `negatable:"" default:"true" help:"Let a model think that can switch."`
	Extract    string `enum:"last,lcb,verl" default:"last" help:"Where an answer's program is: last, lcb, verl."`
	Compare    string `enum:"published,strict,tokens" default:"strict" help:"Comparison of outputs: published (LiveCodeBench to the letter), strict, tokens."`

	Samples     string `type:"existingfile" placeholder:"FILE" help:"Judge these programs instead of running a model."`
	Concurrency int    `help:"Conversations at a time (default: 16)."`
	Out         string `placeholder:"DIR" help:"Run folder (default: runs/livecodebench-TIME)."`
	Resume      bool   `help:"Go on with the run in --out."`
	AllowInfra  bool   `help:"Exit 0 even if some samples could not be judged."`
}

// Help is shown below the flags.
func (livecodebenchCmd) Help() string {
	return `Examples:
  cr eval livecodebench --n 4 --model Qwen3-1.7B/ --data lcb/ --release v5
  cr eval livecodebench --n 4 --endpoint http://127.0.0.1:8000/v1 --model NAME
  cr eval livecodebench --samples programs.jsonl --data bundled
  cr eval livecodebench --n 4 --model Qwen3-1.7B/ --sandbox http://127.0.0.1:8080
  cr eval livecodebench --n 4 --model runs/rl --baseline Qwen3-1.7B/ --every 20 --out runs/rl-eval

Where --model is the folder of a training run, every checkpoint in it is
evaluated, with the same settings and draws, into DIR/step_N; then come the table
by step with the change since the first, steps.json, .csv and .md, and the curve
as steps.svg and .png.

A run that was interrupted goes on with --resume --out DIR and ends with the
same results. Exit code 4: finished, but some samples could not be judged.`
}

// Validate is called by Kong after parsing; it hides those of the embedded flags.
func (l *livecodebenchCmd) Validate() error {
	return cmp.Or(l.modelFlags.Validate(), l.serverFlags.Validate(), l.samplingFlags.Validate(), l.executorFlags.Validate(), l.stepsFlags.validate(), l.validate())
}

func (l *livecodebenchCmd) validate() error {
	for _, f := range []struct {
		name  string
		value int
	}{{"n", l.N}, {"max-tokens", l.MaxTokens}, {"max-turns", l.MaxTurns}, {"tool-output", l.ToolOutput}} {
		if f.value < 1 {
			return fmt.Errorf("--%s %d: want 1 or more", f.name, f.value)
		}
	}
	switch {
	case l.Concurrency < 0 || l.Concurrency > mostSequences:
		return fmt.Errorf("--concurrency %d: want 1 to %d", l.Concurrency, mostSequences)
	case l.Limit < 0:
		return fmt.Errorf("--limit %d: want 1 or more", l.Limit)
	case l.Samples != "" && l.Endpoint != "":
		return errors.New("--samples judges programs that are there already; it goes without --endpoint")
	case l.Resume && l.Out == "":
		return errors.New("--resume needs --out, the folder of the run to go on with")
	}
	return isFolder("--out", l.Out)
}

// isFolder refuses a flag's path where something else than a folder stands.
func isFolder(flag, path string) error {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return fmt.Errorf("%s %s: is a file, want a folder or a name for a new one", flag, path)
	}
	return nil
}

// Run evaluates a model or the checkpoints of a training run, or judges --samples.
func (l *livecodebenchCmd) Run(ctx context.Context, c *console) error {
	if l.Out == "" {
		l.Out = "runs/livecodebench-" + time.Now().Format("20060102-150405")
	}
	series, err := l.series(c)
	if err != nil {
		return err
	}
	b, err := l.bench(ctx, c)
	if err != nil {
		return err
	}
	defer b.executor.Close()
	if series != nil {
		return series.run(ctx, c, b)
	}
	if l.Resume && !hasRun(l.Out) {
		c.note("%s holds no run to go on with; beginning one", l.Out)
	}
	results, err := l.evaluate(ctx, c, b, l.Out)
	if err != nil {
		return err
	}
	c.note("run folder: %s", l.Out)
	if err := c.result(results, func(w io.Writer) error { return eval.WriteReport(w, results) }); err != nil {
		return err
	}
	return l.infra(results.InfraErrors)
}

// infra is the error of a run with so many samples that could not be judged.
func (l *livecodebenchCmd) infra(samples int) error {
	if samples > 0 && !l.AllowInfra {
		return errInfra
	}
	return nil
}

// bench is what programs are written for and judged by.
type bench struct {
	set      datasets.Set
	executor sandbox.Executor
	judge    *judge.Judge
}

func (l *livecodebenchCmd) bench(ctx context.Context, c *console) (b bench, err error) {
	if b.set, err = l.load(ctx, c); err != nil {
		return b, err
	}
	for _, note := range b.set.Notes {
		c.note("%s", note)
	}
	if b.executor, err = l.executorFlags.open(ctx, c); err != nil {
		return b, err
	}
	b.judge = judge.New(b.executor)
	return b, nil
}

// evaluate runs one model, or judges --samples, into the run folder; resumed is
// the --out that goes on with it.
func (l *livecodebenchCmd) evaluate(ctx context.Context, c *console, b bench, resumed string) (eval.Results, error) {
	bar := newProgress(c)
	deps := eval.Deps{Set: b.set, Judge: b.judge, Notice: bar.note, Progress: bar.show}
	config := l.config(b.executor)
	closeModel, err := l.source(ctx, c, &config, &deps, b.executor)
	if err != nil {
		return eval.Results{}, err
	}
	defer closeModel()
	results, err := eval.Run(ctx, config, deps)
	bar.end()
	return results, runError(err, l.Out, resumed)
}

// runError sorts the failure of a run in folder run, when there is one, and adds
// the flags that are the way on.
func runError(err error, run, out string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, eval.ErrRefused), errors.Is(err, eval.ErrSettingsDiffer):
		return badInput(err)
	case errors.Is(err, eval.ErrRunExists):
		return usagef("%w (--resume, --out)", err)
	case errors.Is(err, eval.ErrInterrupted):
		return fmt.Errorf("%w (--resume --out %s)", err, out)
	}
	if hasRun(run) {
		return fmt.Errorf("%w; what is done is kept: go on with --resume --out %s", err, out)
	}
	if errors.As(err, new(*fs.PathError)) {
		return fmt.Errorf("%w (--out names another place)", err)
	}
	return err
}

// hasRun tells whether a run was begun in a folder.
func hasRun(out string) bool {
	_, err := os.Stat(filepath.Join(out, "run.json"))
	return err == nil
}

// config maps the flags.
func (l *livecodebenchCmd) config(executor sandbox.Executor) eval.Config {
	budgets := agent.DefaultBudgets()
	budgets.Tokens, budgets.Turns, budgets.ToolOutput = l.MaxTokens, l.MaxTurns, l.ToolOutput
	return eval.Config{
		Benchmark: "livecodebench", N: l.N, Limit: l.Limit,
		Sampling: agent.Sampling{
			Temperature: l.Temperature, TopP: l.TopP, TopK: l.TopK, MinP: l.MinP,
			RepetitionPenalty: l.RepetitionPenalty, Seed: l.Seed,
		},
		Budgets: budgets, Thinking: l.Thinking,
		Extract: eval.Rule(l.Extract), Compare: judge.Mode(l.Compare),
		Extra: sandboxSettings(executor),
		Out:   l.Out, Resume: l.Resume, Concurrency: l.Concurrency, Judges: judgesFor(executor), Version: version,
	}
}

// source adds what makes the programs: the engine, a server, or a file.
func (l *livecodebenchCmd) source(ctx context.Context, c *console, config *eval.Config, deps *eval.Deps, executor sandbox.Executor) (func(), error) {
	none := func() {}
	if l.Samples != "" {
		programs, err := datasets.LoadSamples(ctx, l.Samples)
		deps.Programs = &programs
		return none, badInput(err)
	}
	if config.Concurrency < 1 {
		config.Concurrency = defaultConcurrency
	}
	if l.Tools {
		deps.Tools = agent.Interpreter{Executor: executor}
	}
	closeModel, err := l.endpoint(ctx, c, config, deps)
	if err != nil {
		return none, err
	}
	l.clip(c, config, deps.Endpoint.Info())
	return closeModel, nil
}

func (l *livecodebenchCmd) endpoint(ctx context.Context, c *console, config *eval.Config, deps *eval.Deps) (func(), error) {
	if l.Endpoint != "" {
		server, err := l.connect(ctx, c, l.Model)
		if err != nil {
			return nil, err
		}
		deps.Endpoint = server
		return func() {}, nil
	}
	engine, err := l.modelFlags.open(ctx, c, config.Concurrency)
	if err != nil {
		return nil, err
	}
	embedded, err := agent.NewEmbedded(engine, false)
	if err != nil {
		engine.Close()
		return nil, badInput(err)
	}
	deps.Endpoint = embedded
	config.Extra = append(config.Extra,
		eval.Setting{Name: "dtype", Value: l.DType}, eval.Setting{Name: "weights", Value: engine.Fingerprint()})
	return func() { engine.Close() }, nil
}

// clip bounds the response budget by the model's context, and says so.
func (l *livecodebenchCmd) clip(c *console, config *eval.Config, info agent.Info) {
	if info.Context > 0 && config.Budgets.Tokens > info.Context {
		c.once("--max-tokens %d is more than the model's context; using %d", config.Budgets.Tokens, info.Context)
		config.Budgets.Tokens = info.Context
	}
	if info.ToolsInSystem && l.Tools {
		c.once("the model's chat template ignores tools: their schema and how to call them stand in the system turn")
	}
}
