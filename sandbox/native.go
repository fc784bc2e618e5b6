package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/coderl/cr/sandbox/build"
	"github.com/coderl/cr/sandbox/jail"
	"github.com/coderl/cr/sandbox/lang"
)

// Bounds of a compilation. Its memory is not the program's: compilers need what
// they need.
const (
	compileTime   = 30 * time.Second
	compileMemory = 2 << 30
	compileOutput = 1 << 20
)

// nativeStack is the main thread's stack of programs that the interpreter does
// not run. The C library gives threads as much.
const nativeStack = 256 << 20

// errPythonOnly answers calls and checks in other languages.
var errPythonOnly = errors.New("calls and checks are for Python programs")

// tools compile and run programs in other languages than the lanes' own.
type tools struct {
	pool  *jail.Pool
	host  *lang.Host
	cache *build.Cache
}

// run compiles a program if its language asks for that, and runs it.
func (t *tools) run(ctx context.Context, language *lang.Language, job *Job, limits Limits) (Result, error) {
	if job.Call != nil || job.Check != nil {
		return Result{}, errPythonOnly
	}
	chain, err := t.host.Find(language)
	if err != nil {
		return Result{}, &LanguageError{Language: language.Name, Install: language.Chains[0].Install, Reason: err}
	}
	program := *job
	program.Code = chain.Program(job.Code)
	job = &program
	values := lang.Values{Memory: limits.Memory, Entry: language.EntryOf(job.Code)}
	if values.Prepared, err = t.host.Prepared(ctx, chain); err != nil {
		return Result{}, err
	}
	limits.Processes += chain.Threads
	j := jail.Job{
		Stdin: job.Stdin, Args: job.Args, Fetch: job.Fetch, Limits: jail.Limits(limits),
		Exec: execOf(chain, chain.RunCommand(values), values),
	}
	var step *Step
	made := map[string][]byte{language.Source: []byte(job.Code)}
	if chain.Compile != nil {
		b, err := t.compile(ctx, language, chain, job, values)
		if err != nil {
			return Result{}, err
		}
		if step = stepOf(b); !b.OK {
			return Result{Status: CompileError, Compile: step}, nil
		}
		made = b.Files
	}
	if j.Files, err = joined(job.Files, made); err != nil {
		return Result{}, err
	}
	out, err := t.pool.Run(ctx, j)
	if err != nil {
		return Result{}, err
	}
	r := newResult(&out, &limits, job)
	r.Compile = step
	if r.Status == RuntimeError && refusedMemory(r.Stderr, chain.NoMemory) {
		r.Status = MemoryLimitExceeded
	}
	return r, nil
}

// compile returns what the compiler makes of a job's program.
func (t *tools) compile(ctx context.Context, language *lang.Language, chain *lang.Toolchain, job *Job, v lang.Values) (*build.Build, error) {
	v.Memory = compileMemory
	command := chain.CompileCommand(v)
	files := map[string][]byte{language.Source: []byte(job.Code)}
	parts := []string{language.Name, chain.Identity(), strings.Join(command, "\x00"), strings.Join(chain.Env, "\x00"), job.Code}
	for _, name := range slices.Sorted(maps.Keys(job.Files)) {
		if language.Sees(name) {
			if name == language.Source {
				return nil, taken(name)
			}
			files[name] = job.Files[name]
			parts = append(parts, name, string(job.Files[name]))
		}
	}
	limits := Limits{
		CPU: job.CompileTime, Memory: compileMemory, Output: compileOutput, Processes: DefaultLimits().Processes + chain.Threads,
	}
	if limits.CPU <= 0 {
		limits.CPU = max(chain.CompileTime, compileTime)
	}
	limits = limits.or(Limits{})
	return t.cache.Get(ctx, build.Key(parts...), func(ctx context.Context) (*build.Build, error) {
		out, err := t.pool.Run(ctx, jail.Job{
			Files: files, Fetch: []string{buildDir}, Limits: jail.Limits(limits), Exec: execOf(chain, command, v),
		})
		if err != nil {
			return nil, fmt.Errorf("compile: %w", err)
		}
		return buildOf(&out, &limits), nil
	})
}

// buildDir is where compilers put what is to be run.
const buildDir = "out/"

// buildOf turns what a compiler did into a build.
func buildOf(out *jail.Outcome, limits *Limits) *build.Build {
	b := &build.Build{
		ExitCode: out.ExitCode, Stdout: out.Stdout, Stderr: out.Stderr, Wall: out.Wall,
		Files: map[string][]byte{},
	}
	switch status(out, limits, false) {
	case OK:
		for name, data := range out.Files {
			b.Files[strings.TrimPrefix(name, buildDir)] = data
		}
		if b.OK = len(b.Files) > 0; !b.OK {
			b.Stderr = append(b.Stderr, "the compiler made no program\n"...)
		}
	case TimeLimitExceeded:
		b.TimedOut = true
	case RuntimeError:
		b.Killed = out.Signal != ""
	default:
		b.Killed = true
	}
	return b
}

// stepOf describes a build to those who asked for it.
func stepOf(b *build.Build) *Step {
	s := &Step{Status: OK, ExitCode: b.ExitCode, Stdout: b.Stdout, Stderr: b.Stderr, Wall: b.Wall}
	switch {
	case b.TimedOut:
		s.Status = TimeLimitExceeded
	case !b.OK:
		s.Status = CompileError
	}
	return s
}

func execOf(chain *lang.Toolchain, argv []string, v lang.Values) *jail.Exec {
	return &jail.Exec{Argv: argv, Env: chain.Environment(v), Stack: nativeStack, Sparse: chain.Sparse}
}

// joined puts the program beside the job's own files.
func joined(files, program map[string][]byte) (map[string][]byte, error) {
	all := maps.Clone(program)
	for name, data := range files {
		if _, twice := all[name]; twice {
			return nil, taken(name)
		}
		all[name] = data
	}
	return all, nil
}

func taken(name string) error {
	return fmt.Errorf("job file %q: the program itself has that name", name)
}

// refusedMemory says whether a program's last words are those of a run-time
// system that got no memory. A program may forge them: it then fails for another
// reason than it did.
func refusedMemory(stderr []byte, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(stderr, []byte(word)) })
}
