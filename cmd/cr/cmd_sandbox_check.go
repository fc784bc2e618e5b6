package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/selftest"
)

// errLayer ends a check that found a layer which does not hold.
var errLayer = errors.New("a layer of the sandbox does not hold on this host; do not run programs of others with it")

type sandboxCheckCmd struct {
	sandboxFlags `embed:""`

	Runs int `default:"100" help:"Programs to run when looking for leaks."`
}

// Help is shown below the flags.
func (sandboxCheckCmd) Help() string {
	return `Example:
  cr sandbox check

Hostile programs attack the sandbox of this host, one kind a row. The exit code
is 1 when one of them gets what it must not.`
}

// Validate is called by Kong after parsing.
func (s *sandboxCheckCmd) Validate() error {
	if s.Runs < 1 {
		return fmt.Errorf("--runs %d: want 1 or more", s.Runs)
	}
	return nil
}

// checkReport is the result of a check.
type checkReport struct {
	Isolation sandbox.Isolation  `json:"isolation"`
	Rows      []selftest.Outcome `json:"rows"`
	OK        bool               `json:"ok"`
}

// Run attacks the sandbox and prints what it found.
func (s *sandboxCheckCmd) Run(ctx context.Context, c *console) (err error) {
	executor, err := s.open(1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, executor.Close()) }()
	report := checkReport{Isolation: executor.Isolation(), OK: true}
	c.note("sandbox check: tier %s, Python %s; about half a minute", report.Isolation.Tier, report.Isolation.Interpreter)
	err = selftest.RunAll(ctx, executor, s.Runs, func(o selftest.Outcome) {
		report.Rows = append(report.Rows, o)
		report.OK = report.OK && o.OK
	})
	if err != nil {
		return fmt.Errorf("sandbox check: %w", err)
	}
	if err := c.result(report, report.table); err != nil || report.OK {
		return err
	}
	return errLayer
}

func (r *checkReport) table(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "row\tattack\ttried\toutcome\tok")
	for _, o := range r.Rows {
		mark := "yes"
		if !o.OK {
			mark = "NO"
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", o.Number, o.Name, o.Tried, o.Found, mark)
	}
	return w.Flush()
}
