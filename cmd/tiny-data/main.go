// Command tiny-data makes the data of the model that cr ships: training
// conversations, the problems for reinforcement, and the held-out problems that
// cr embeds.
//
//	go run ./cmd/tiny-data -make sft -n 8000 -out build/tiny/sft.jsonl
//	go run ./cmd/tiny-data -make rl -n 2000 -out build/tiny/rl.jsonl
//	go run ./cmd/tiny-data -make heldout -n 500 -check -out datasets/bundled/tiny-heldout.jsonl.gz
//
// Equal flags make equal files.
package main

import (
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"

	"github.com/coderl/cr/datasets/tinytasks"
	"github.com/coderl/cr/eval/agent"
	"github.com/coderl/cr/internal/atomicfile"
	"github.com/coderl/cr/recipes/tiny"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

func main() {
	// The sandbox starts this binary again as the first process of a jail.
	sandbox.MaybeRunStub()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "tiny-data:", err)
		os.Exit(1)
	}
}

// options are the command's flags.
type options struct {
	split   tinytasks.Split
	n       int
	seed    uint64
	out     string
	wrong   float64
	check   bool
	workers int
}

func parse(argv []string) (o options, err error) {
	flags := flag.NewFlagSet("tiny-data", flag.ContinueOnError)
	split := flags.String("make", string(tinytasks.SFT), "sft: training conversations; rl, heldout: problems")
	flags.IntVar(&o.n, "n", 8000, "tasks")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of every draw")
	flags.StringVar(&o.out, "out", "", "file to write; compressed if its name ends in .gz")
	flags.Float64Var(&o.wrong, "wrong", 0.35, "share of conversations that begin with a wrong draft")
	flags.BoolVar(&o.check, "check", false, "of problems: judge the right and the wrong programs first")
	flags.IntVar(&o.workers, "workers", runtime.NumCPU(), "tasks at a time")
	if err = flags.Parse(argv); err != nil {
		return o, err
	}
	o.split = tinytasks.Split(*split)
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.out == "":
		return o, errors.New("name the file to write with -out")
	case o.n < 1 || o.workers < 1:
		return o, errors.New("-n and -workers must be above 0")
	case o.wrong < 0 || o.wrong > 0.9:
		return o, errors.New("-wrong must lie between 0 and 0.9")
	}
	return o, nil
}

func run(ctx context.Context, argv []string) (err error) {
	o, err := parse(argv)
	if err != nil {
		return err
	}
	generator, err := tinytasks.NewGenerator(o.split, o.seed)
	if err != nil {
		return err
	}
	tasks := generator.Tasks(o.n)
	maker := tiny.Maker{WrongShare: o.wrong, Seed: o.seed, Workers: o.workers}
	if o.split == tinytasks.SFT || o.check {
		local, err := sandbox.NewLocal(sandbox.LocalOptions{Workers: o.workers})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, local.Close()) }()
		maker.Tool, maker.Judge = agent.Interpreter{Executor: local}, judge.New(local)
	}
	if o.split == tinytasks.SFT {
		conversations, err := maker.Conversations(ctx, tasks)
		if err != nil {
			return err
		}
		return write(o.out, func(w io.Writer) error { return tiny.WriteJSONL(w, conversations) })
	}
	if o.check {
		if err := maker.Check(ctx, tasks); err != nil {
			return err
		}
	}
	return write(o.out, func(w io.Writer) error { return tinytasks.WriteJSONL(w, tasks) })
}

// write fills a file, through gzip if its name asks for it.
func write(path string, fill func(io.Writer) error) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		if !strings.HasSuffix(path, ".gz") {
			return fill(w)
		}
		z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		return errors.Join(fill(z), z.Close())
	})
}
