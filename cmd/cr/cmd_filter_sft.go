package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/coderl/cr/datasets/sft"
	"github.com/coderl/cr/recipes/examples"
	"github.com/coderl/cr/runtime/chat"
)

type filterSFTCmd struct {
	Source string `default:"hub:Gen-Verse/Open-AgentRL-SFT-3K" placeholder:"FILE|DIR|hub:…" help:"Conversations: parquet files, or a dataset of the hub (default: ${default}); with --render and --check JSONL files too."`
	Out    string `default:"toolcall_sft.parquet" placeholder:"FILE" help:"The file to write (default: ${default})."`

	Render    string `xor:"do" placeholder:"MODEL" help:"Filter nothing: show a row as this model will see it, with what is trained marked."`
	Row       int    `default:"0" help:"With --render: the row, from 0."`
	Check     string `xor:"do" placeholder:"MODEL" help:"Filter nothing: list rows that are no good for training this model."`
	MaxLength int    `default:"0" help:"With --check: list rows of more tokens; 0 for no bound."`
	Thinking  string `enum:"keep,strip,all" default:"keep" help:"With --render and --check, of the reasoning: give it to the template (keep), take it out (strip), or refuse rows of which the template drops some (all)."`
	Mask      string `enum:"turn,verl" default:"turn" help:"With --render and --check: train turns to their end token (turn), or the newline behind it too (verl)."`
	NoColor   string `hidden:"" env:"NO_COLOR"`

	sourceFlags `embed:""`
}

// Help is shown below the flags.
func (filterSFTCmd) Help() string {
	return `Examples:
  cr filter-sft
  cr filter-sft --source conversations.parquet --out toolcall_sft.parquet
  cr filter-sft --source toolcall_sft.parquet --render Qwen3-1.7B/ --row 12
  cr filter-sft --source toolcall_sft.parquet --check hub:Qwen/Qwen3-1.7B --max-length 16384

Keeps conversations that call a tool, get its answer, and end with a python fence
and no \boxed: the rows of filter_sft_data.py, all columns as they are.
--render and --check need a model's tokenizer and template, no weights.`
}

// Validate is called by Kong after parsing.
func (f *filterSFTCmd) Validate() error {
	switch {
	case f.MaxLength < 0:
		return fmt.Errorf("--max-length %d: want 0 or more", f.MaxLength)
	case f.Row < 0:
		return fmt.Errorf("--row %d: rows count from 0", f.Row)
	case f.Row > 0 && f.Render == "":
		return errors.New("--row chooses what --render MODEL shows; give both")
	case f.MaxLength > 0 && f.Check == "":
		return errors.New("--max-length is a bound for --check MODEL; give both")
	}
	return nil
}

// Run filters the conversations, or looks at them.
func (f *filterSFTCmd) Run(ctx context.Context, c *console) error {
	files, err := f.files(ctx, c, f.Source)
	if err != nil {
		return err
	}
	switch {
	case f.Render != "":
		return f.render(ctx, c, files)
	case f.Check != "":
		return f.check(ctx, c, files)
	}
	if info, err := os.Stat(filepath.Dir(f.Out)); err != nil || !info.IsDir() {
		return usagef("--out %s: there is no folder %s; make it first", f.Out, filepath.Dir(f.Out))
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

// text opens the text side of a model.
func (f *filterSFTCmd) text(ctx context.Context, c *console, name string) (*chat.Model, error) {
	path, err := modelFlags{Model: name, Cache: f.Cache}.path(ctx, c)
	if err != nil {
		return nil, err
	}
	model, err := examples.OpenModel(path)
	return model, badInput(err)
}

func (f *filterSFTCmd) options() examples.Options {
	return examples.Options{
		MaxLength: f.MaxLength, Thinking: examples.Thinking(f.Thinking), Mask: examples.Mask(f.Mask),
	}
}

// untold marks a model's lack of a template as the input's fault.
func untold(err error) error {
	if errors.Is(err, chat.ErrNoTemplate) {
		return badInput(err)
	}
	return inputFault(err)
}
