package main

import (
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

// Run decides.
func (g *gateCmd) Run(c *console) error {
	run, baseline, err := loadRuns(g.Candidate, g.Baseline)
	if err != nil {
		return err
	}
	result, err := eval.Gate(run, baseline, eval.GateOptions{MaxDrop: g.MaxDrop, Confidence: g.Confidence, Intersect: g.Intersect})
	if err != nil {
		return badInput(err)
	}
	if err := c.result(result, func(w io.Writer) error { return eval.WriteGate(w, result) }); err != nil {
		return err
	}
	if result.Outcome != eval.GatePass {
		return errGate
	}
	return nil
}
