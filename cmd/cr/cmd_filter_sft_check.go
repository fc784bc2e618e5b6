package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/coderl/cr/recipes/examples"
)

// checkResult is what --check --json prints.
type checkResult struct {
	examples.Checked
	Findings []examples.Finding `json:"findings"`
}

// check lists what is wrong with rows, a line each, and sums up.
func (f *filterSFTCmd) check(ctx context.Context, c *console, files []string) (err error) {
	model, err := f.text(ctx, c, f.Check)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	options := f.options()
	bar := newRowProgress(c)
	options.Progress = func(done, skipped int) { bar.show("rows", done, -1, fmt.Sprintf("%d with problems", skipped)) }
	result := checkResult{Findings: []examples.Finding{}}
	result.Checked, err = examples.Check(ctx, files, model, options, func(found examples.Finding) {
		result.Findings = append(result.Findings, found)
	})
	bar.end()
	if err != nil {
		return untold(err)
	}
	return c.result(result, result.print)
}

func (r checkResult) print(w io.Writer) error {
	for _, found := range r.Findings {
		if _, err := fmt.Fprintf(w, "%s: %s: %s\n", found.Row, found.Reason, printable(found.Detail)); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "%d rows, %d fine, %d tokens, %d of them trained, the longest row %d\n", r.Rows, r.Fine, r.Tokens, r.Targets, r.Longest)
	return printReasons(w, r.Problems)
}
