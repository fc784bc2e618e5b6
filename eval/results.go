package eval

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/coderl/cr/datasets"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/internal/amount"
	"github.com/coderl/cr/sandbox"
)

// Results is results.json. Nothing in it depends on time: a resumed run gives
// the same bytes as one that was left alone.
type Results struct {
	Benchmark string   `json:"benchmark"`
	Data      DataInfo `json:"data"`
	Problems  int      `json:"problems"` // with samples
	Samples   int      `json:"samples"`  // infra errors included
	Figures
	By map[string]map[string]Group `json:"by"` // difficulty, platform, month
	// InfraErrors are samples that failed for reasons of ours: not in the score.
	InfraErrors int `json:"infra_errors"`
	// Truncated are samples whose answer a budget or the context cut, or whose
	// thinking never ended. They are judged like others if they hold a program.
	Truncated int `json:"truncated"`
	NoCode    int `json:"no_code"` // complete answers without a program
	// DroppedPrompts are problems whose prompt does not fit the context. They
	// stay in the score, as not solved: a benchmark does not shrink silently.
	DroppedPrompts int      `json:"dropped_prompts"`
	Turns          int      `json:"turns"`
	ToolCalls      int      `json:"tool_calls"`
	Tokens         Tokens   `json:"tokens"`
	Notices        []string `json:"notices"`
}

// DataInfo says what was run on.
type DataInfo struct {
	Name    string `json:"name"`
	SHA256  string `json:"sha256"`
	Release string `json:"release"`
	Window  string `json:"window"`
}

// Figures are the scores of a set of problems.
type Figures struct {
	// PassAtK has every k up to the number of samples that each problem was to
	// get. Problems with fewer than k judged samples, by infra errors, are left
	// out of that k.
	PassAtK map[string]Estimate `json:"pass_at_k"`
	// MeanTestShare is the share of tests passed: the mean over a problem's
	// judged samples, then over problems.
	MeanTestShare float64 `json:"mean_test_share"`
}

// Group is one slice of the problems.
type Group struct {
	Problems int `json:"problems"`
	Samples  int `json:"samples"`
	Figures
}

// Tokens are sums over all samples.
type Tokens struct {
	Prompt     int `json:"prompt"`     // of the openings
	Completion int `json:"completion"` // sampled by the model
	Tool       int `json:"tool"`       // tool replies with the template's text around them
}

// tally is what counts of one problem.
type tally struct {
	problem datasets.Problem
	planned int
	judged  int
	passed  int
	share   float64 // sum over judged samples
}

// accumulator builds results from records in the order of their keys.
type accumulator struct {
	results Results
	tallies []tally
	dropped map[string]bool
	invalid int
}

func (a *accumulator) add(p datasets.Problem, r record) {
	if n := len(a.tallies); n == 0 || a.tallies[n-1].problem.ID != p.ID {
		a.tallies = append(a.tallies, tally{problem: p})
	}
	t, s := &a.tallies[len(a.tallies)-1], r.Sample
	t.planned++
	res := &a.results
	res.Samples++
	res.Turns += r.Turns
	res.ToolCalls += r.ToolCalls
	res.Tokens.Prompt += s.PromptTokens
	res.Tokens.Completion += s.CompletionTokens
	res.Tokens.Tool += r.ReplyTokens
	if s.Finish == agent.FinishPromptTooLong {
		a.dropped[p.ID] = true
	}
	switch s.Verdict {
	case sandbox.InfraError:
		res.InfraErrors++
		return
	case sandbox.InvalidTask:
		a.invalid++
		return
	case sandbox.NoCode:
		res.NoCode++
	}
	if r.Cut {
		res.Truncated++
	}
	t.judged++
	if s.Passed {
		t.passed++
	}
	t.share += testShare(s.Tests)
}

// testShare is the share of a sample's tests that passed, 0 without tests.
func testShare(tests []TestLine) float64 {
	if len(tests) == 0 {
		return 0
	}
	passed := 0
	for _, t := range tests {
		if t.Verdict == sandbox.AC {
			passed++
		}
	}
	return float64(passed) / float64(len(tests))
}

// finish computes the figures.
func (a *accumulator) finish(c Config, d Deps, p plan) Results {
	r := a.results
	r.Benchmark = c.Benchmark
	r.Data = DataInfo{Name: d.Set.Name, SHA256: d.Set.SHA256, Release: d.Set.Release, Window: d.Set.Window}
	r.Problems = len(a.tallies)
	r.DroppedPrompts = len(a.dropped)
	r.Figures = figures(a.tallies)
	r.By = groups(a.tallies)
	r.Notices = a.notices(d, p)
	return r
}

// figures computes pass@k and the share of tests over problems.
func figures(tallies []tally) Figures {
	f := Figures{PassAtK: make(map[string]Estimate)}
	var shares []float64
	most := 0
	for i, t := range tallies {
		if i == 0 || t.planned < most {
			most = t.planned
		}
		if t.judged > 0 {
			shares = append(shares, t.share/float64(t.judged))
		}
	}
	f.MeanTestShare = mean(shares)
	for k := 1; k <= most; k++ {
		var values []float64
		for _, t := range tallies {
			if t.judged >= k {
				values = append(values, PassAtK(t.judged, t.passed, k))
			}
		}
		if len(values) > 0 {
			f.PassAtK[strconv.Itoa(k)] = estimate(values)
		}
	}
	return f
}

// groups groups the problems in the three ways of the report.
func groups(tallies []tally) map[string]map[string]Group {
	ways := map[string]func(datasets.Problem) string{
		"difficulty": func(p datasets.Problem) string { return p.Difficulty },
		"platform":   func(p datasets.Problem) string { return p.Platform },
		"month": func(p datasets.Problem) string {
			if p.ContestDate.IsZero() {
				return ""
			}
			return p.ContestDate.Format("2006-01")
		},
	}
	by := make(map[string]map[string]Group)
	for way, of := range ways {
		parts := make(map[string][]tally)
		for _, t := range tallies {
			name := cmp.Or(of(t.problem), "unknown")
			parts[name] = append(parts[name], t)
		}
		by[way] = make(map[string]Group)
		for name, part := range parts {
			g := Group{Problems: len(part), Figures: figures(part)}
			for _, t := range part {
				g.Samples += t.planned
			}
			by[way][name] = g
		}
	}
	return by
}

// notices are the lines without which the figures would be misread.
func (a *accumulator) notices(d Deps, p plan) []string {
	notices := []string{}
	say := func(format string, args ...any) { notices = append(notices, fmt.Sprintf(format, args...)) }
	if d.Set.Name == "bundled" {
		say("bundled problems, written for cr: not LiveCodeBench, and not comparable with its published scores")
	}
	if p.uncovered > 0 {
		say("samples cover %d of %d problems; the figures are over those", len(p.problems), len(p.problems)+p.uncovered)
	}
	if p.unknown > 0 {
		say("left out: %s, for problems that are not in the data", amount.Of(p.unknown, "sample"))
	}
	if a.results.InfraErrors > 0 {
		say("%d of %d samples are infra_error and not in the score; resuming the run tries them again", a.results.InfraErrors, a.results.Samples)
	}
	if a.invalid > 0 {
		say("not in the score: %s, invalid_task (the problem cannot be judged)", amount.Of(a.invalid, "sample"))
	}
	if n := len(a.dropped); n > 0 {
		say("not solved: %s, whose prompt is longer than the model's context", amount.Of(n, "problem"))
	}
	return notices
}
