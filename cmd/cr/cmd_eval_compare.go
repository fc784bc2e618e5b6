package main

import (
	"io"

	"github.com/coderl/cr/eval"
)

type compareCmd struct {
	A string `arg:"" type:"existingdir" help:"Run folder."`
	B string `arg:"" type:"existingdir" help:"Run folder that is set against it."`

	Confidence float64 `default:"0.95" help:"Of the interval."`
	Intersect  bool    `help:"Compare what two different sets of problems have in common."`
}

// Help is shown below the flags.
func (compareCmd) Help() string {
	return `Example:
  cr eval compare runs/before runs/after`
}

// Run prints B against A.
func (x *compareCmd) Run(c *console) error {
	a, b, err := loadRuns(x.A, x.B)
	if err != nil {
		return err
	}
	comparison, err := eval.Compare(a, b, eval.CompareOptions{Confidence: x.Confidence, Intersect: x.Intersect})
	if err != nil {
		return badInput(err)
	}
	return c.result(comparison, func(w io.Writer) error { return eval.WriteComparison(w, comparison) })
}

func loadRuns(a, b string) (eval.Finished, eval.Finished, error) {
	first, err := eval.LoadRun(a)
	if err != nil {
		return first, first, badInput(err)
	}
	second, err := eval.LoadRun(b)
	return first, second, badInput(err)
}
