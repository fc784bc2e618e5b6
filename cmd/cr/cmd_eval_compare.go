package main

import (
	"errors"
	"fmt"
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

// Validate is called by Kong after parsing.
func (x *compareCmd) Validate() error { return checkConfidence(x.Confidence) }

func checkConfidence(c float64) error {
	if !(c > 0 && c < 1) { // also not NaN
		return fmt.Errorf("--confidence %v: want a number between 0 and 1", c)
	}
	return nil
}

// comparisonError names the flag that compares what two runs have in common.
func comparisonError(err error) error {
	if errors.Is(err, eval.ErrDifferentData) {
		return usagef("%w (--intersect)", err)
	}
	return badInput(err)
}

// Run prints B against A.
func (x *compareCmd) Run(c *console) error {
	a, b, err := loadRuns(x.A, x.B)
	if err != nil {
		return err
	}
	comparison, err := eval.Compare(a, b, eval.CompareOptions{Confidence: x.Confidence, Intersect: x.Intersect})
	if err != nil {
		return comparisonError(err)
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
