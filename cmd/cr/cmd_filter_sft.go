package main

import (
	"context"
	"fmt"
	"io"

	"github.com/coderl/cr/datasets/sft"
)

type filterSFTCmd struct {
	Source string `default:"hub:Gen-Verse/Open-AgentRL-SFT-3K" placeholder:"FILE|DIR|hub:…" help:"Conversations: parquet files, or a dataset of the hub (${default})."`
	Out    string `default:"toolcall_sft.parquet" placeholder:"FILE" help:"The file to write (${default})."`

	sourceFlags `embed:""`
}

// Help is shown below the flags.
func (filterSFTCmd) Help() string {
	return `Examples:
  cr filter-sft
  cr filter-sft --source conversations.parquet --out toolcall_sft.parquet

Keeps conversations that call a tool, get its answer, and end with a python fence
and no \boxed: the rows of filter_sft_data.py, all columns as they are.`
}

// Run filters the conversations.
func (f *filterSFTCmd) Run(ctx context.Context, c *console) error {
	files, err := f.files(ctx, c, f.Source)
	if err != nil {
		return err
	}
	bar := newRowProgress(c)
	summary, err := sft.Filter(ctx, files, f.Out, sft.Options{
		Log:      c.log,
		Progress: func(done, total int64) { bar.show("rows", int(done), int(total), "") },
	})
	bar.end()
	if err != nil {
		return inputFault(err)
	}
	if summary.Kept == 0 {
		c.note("no conversation was kept: %s has no rows", f.Out)
	}
	return c.result(summary, func(w io.Writer) error {
		fmt.Fprintf(w, "%d rows, %d kept in %s\n", summary.Rows, summary.Kept, f.Out)
		return printReasons(w, summary.Dropped)
	})
}
