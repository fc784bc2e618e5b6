package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/sandbox/judge"
)

// Config is how a benchmark is run. All of it but the last group goes into
// run.json, and a resumed run must agree on it.
type Config struct {
	Benchmark string // "livecodebench"
	N         int    // samples of each problem
	Limit     int    // first problems by id; 0: all
	Sampling  agent.Sampling
	Budgets   agent.Budgets
	Thinking  bool
	Extract   Rule
	Compare   judge.Mode
	// Extra are settings that the caller knows of and this package does not: the
	// weights' hash, the dtype, the sandbox.
	Extra []Setting

	Out         string // run folder
	Resume      bool   // go on with what is in Out
	Concurrency int    // conversations at a time; 0: 1
	Judges      int    // programs judged at a time; 0: 2
	Version     string // of cr, recorded
}

// Setting is one named value of run.json.
type Setting struct {
	Name  string
	Value any
}

// Deps are what a run works with.
type Deps struct {
	Set      datasets.Set
	Endpoint agent.Endpoint // nil when Programs are given
	Tools    agent.Toolbox  // nil: no tools
	Judge    Judge
	Programs *datasets.Samples // made elsewhere: judged instead of generating
	// Progress is called after every sample and every second; nil: never. Calls
	// do not overlap.
	Progress func(Progress)
	// Notice takes one line for the user; nil: dropped. Lines that matter for
	// the reading of the figures are in the results too.
	Notice func(string)
}

// Judge decides on a program; *judge.Judge is one.
type Judge interface {
	Judge(ctx context.Context, code string, task judge.Task) (judge.Report, error)
}

// check refuses what cannot be run.
func (c Config) check(d Deps) error {
	switch {
	case c.Benchmark != "livecodebench":
		return fmt.Errorf("unknown benchmark %q", c.Benchmark)
	case c.Out == "":
		return fmt.Errorf("no run folder given")
	case d.Judge == nil:
		return fmt.Errorf("no judge given")
	case len(d.Set.Problems) == 0 && d.Set.Window != "":
		return fmt.Errorf("data %s: no problem has its contest in %s", d.Set.Name, d.Set.Window)
	case len(d.Set.Problems) == 0:
		return fmt.Errorf("data %s: no problems to run", d.Set.Name)
	case d.Programs != nil:
		return nil
	case d.Endpoint == nil:
		return fmt.Errorf("neither a model nor programs given")
	case c.N < 1:
		return fmt.Errorf("n must be at least 1, not %d", c.N)
	case c.Budgets.Tokens < 1 || c.Budgets.Turns < 1:
		return fmt.Errorf("the budgets of tokens and turns must be at least 1")
	}
	return nil
}

// settings lists what a resumed run must agree on, in the order in which a
// difference is reported.
func (c Config) settings(d Deps, p plan) []Setting {
	s := []Setting{
		{"benchmark", c.Benchmark},
		{"data", d.Set.Name},
		{"data_sha256", d.Set.SHA256},
		{"release", d.Set.Release},
		{"window", d.Set.Window},
		{"limit", c.Limit},
		{"problems", len(p.problems)},
		{"extract", c.Extract},
		{"compare", c.Compare},
	}
	if d.Programs != nil {
		s = append(s, Setting{"programs_sha256", d.Programs.SHA256})
		return append(s, c.Extra...)
	}
	info := d.Endpoint.Info()
	s = append(s,
		Setting{"model", info.Model}, Setting{"context", info.Context},
		Setting{"n", c.N}, Setting{"seed", c.Sampling.Seed},
		Setting{"temperature", c.Sampling.Temperature}, Setting{"top_p", c.Sampling.TopP},
		Setting{"top_k", c.Sampling.TopK}, Setting{"min_p", c.Sampling.MinP},
		Setting{"repetition_penalty", c.Sampling.RepetitionPenalty},
		Setting{"max_tokens", c.Budgets.Tokens}, Setting{"tools", d.Tools != nil},
		Setting{"tools_in_system", d.Tools != nil && info.ToolsInSystem},
		Setting{"max_turns", c.Budgets.Turns}, Setting{"max_tool_calls", c.Budgets.Calls},
		Setting{"tool_seconds", c.Budgets.ToolCall.Seconds()},
		Setting{"tool_seconds_total", c.Budgets.ToolTotal.Seconds()},
		Setting{"tool_output", c.Budgets.ToolOutput}, Setting{"thinking", c.Thinking},
		Setting{"prompts_sha256", p.promptHash(d.Tools != nil)},
	)
	return append(s, c.Extra...)
}

// settingsObject renders settings as one JSON object in their order.
func settingsObject(settings []Setting) (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, s := range settings {
		name, err := json.Marshal(s.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(s.Value)
		if err != nil {
			return nil, fmt.Errorf("setting %s: %w", s.Name, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s:%s", name, value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
