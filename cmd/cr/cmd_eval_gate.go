package main

import (
	"fmt"
	"io"

	"github.com/coderl/cr/eval"
)

type gateCmd struct {
	Candidate string `arg:"" name:"run" type:"existingdir" help:"Run folder that has to pass."`

	Baseline   string  `required:"" type:"existingdir" placeholder:"DIR" help:"Run folder it is measured against."`
	MaxDrop    float64 `default:"0.02" help:"Allowed drop of pass@1; 0.02 is two points."`
	Confidence float64 `default:"0.95" help:"Of the decision."`
	Intersect  bool    `help:"Decide on what two different sets of problems have in common."`
}

// Help is shown below the flags.
func (gateCmd) Help() string {
	return `Example:
  cr eval gate runs/new --baseline runs/main --max-drop 0.02

Exit code 0: passed. 3: the drop is larger than allowed, or the runs are too
small to tell (inconclusive); the result says which, and the smallest drop that
these runs could show.`
}

// Validate is called by Kong after parsing.
func (g *gateCmd) Validate() error {
	if !(g.MaxDrop >= 0 && g.MaxDrop <= 1) { // also not NaN
		return fmt.Errorf("--max-drop %v: want a number from 0 to 1", g.MaxDrop)
	}
	return checkConfidence(g.Confidence)
}

// Run decides.
func (g *gateCmd) Run(c *console) error {
	run, baseline, err := loadRuns(g.Candidate, g.Baseline)
	if err != nil {
		return err
	}
	result, err := eval.Gate(run, baseline, eval.GateOptions{MaxDrop: g.MaxDrop, Confidence: g.Confidence, Intersect: g.Intersect})
	if err != nil {
		return comparisonError(err)
	}
	if err := c.result(result, func(w io.Writer) error { return eval.WriteGate(w, result) }); err != nil {
		return err
	}
	if result.Outcome != eval.GatePass {
		return errGate
	}
	return nil
}
