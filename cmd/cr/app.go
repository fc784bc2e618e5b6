package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"
)

// app is the whole command line.
type app struct {
	JSON    bool             `help:"Print one JSON object as the result."`
	Quiet   bool             `short:"q" help:"No progress on stderr."`
	Verbose bool             `short:"v" help:"Log what is done, on stderr."`
	Version kong.VersionFlag `help:"Print the version."`

	Eval     evalCmd         `cmd:"" help:"Evaluate a model, compare runs, gate a release."`
	Generate generateCmd     `cmd:"" help:"Generate text with the embedded engine."`
	Score    scoreCmd        `cmd:"" help:"Log-probabilities of given text or token ids."`
	Sandbox  sandboxCmd      `cmd:"" help:"Run programs in the isolated sandbox."`
	Build    buildDatasetCmd `cmd:"" name:"build-dataset" help:"Make reinforcement learning data of verifiable coding problems."`
	Filter   filterSFTCmd    `cmd:"" name:"filter-sft" help:"Keep the conversations that teach coding with tools."`
	Train    trainCmd        `cmd:"" help:"Train a model by a recipe."`
	Download downloadCmd     `cmd:"" help:"Fetch models and datasets from the hub, verified."`
	Hub      hubCmd          `cmd:"" help:"A hub of one's own."`
	Merge    mergeCmd        `cmd:"" help:"Make a model of an FSDP training checkpoint."`
	Export   exportCmd       `cmd:"" help:"Write a model, such as a .gguf, in Hugging Face layout."`
	Logs     logsCmd         `cmd:"" help:"One table and figures out of the logs of training runs, of verl and of cr."`
	Doctor   doctorCmd       `cmd:"" help:"What this host can do, and what to do about what it cannot."`
}

const description = `Build code datasets, evaluate and train code models, judge their programs.

Exit codes: 0 done, 1 failed, 2 wrong usage or bad input, 3 a gate did not pass,
4 finished with samples that could not be judged, 130 interrupted.`

// run parses args, runs the command, and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var a app
	parser, err := kong.New(&a,
		kong.Name("cr"),
		kong.Description(description),
		kong.Vars{"version": "cr " + version},
		kong.Writers(stdout, stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Exit(func(code int) { panic(exitRequest(code)) }),
	)
	if err != nil {
		fmt.Fprintln(stderr, "cr:", err)
		return exitFailed
	}
	return withExitRequest(func() int {
		parsed, err := parser.Parse(args)
		if err != nil {
			return report(stderr, usagef("%w (see %s --help)", err, commandOf(err)))
		}
		c := newConsole(&a, stdout, stderr)
		parsed.BindTo(ctx, (*context.Context)(nil))
		return report(stderr, interruptedIf(ctx, parsed.Run(c)))
	})
}

// commandOf is the command whose help explains a parsing error.
func commandOf(err error) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if node := parse.Context.Selected(); node != nil {
			return "cr " + node.Path()
		}
	}
	return "cr"
}

// exitRequest carries Kong's wish to end early (--help, --version) out of its
// hooks, so that only main exits.
type exitRequest int

func withExitRequest(f func() int) (code int) {
	defer func() {
		if r := recover(); r != nil {
			request, ok := r.(exitRequest)
			if !ok {
				panic(r)
			}
			code = int(request)
		}
	}()
	return f()
}

// interruptedIf marks an error that a signal caused, whatever wrapped it.
func interruptedIf(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !keepsWork(err) {
		return context.Canceled
	}
	return err
}
