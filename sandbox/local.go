package sandbox

import (
	"context"
	"fmt"
	"runtime"

	"github.com/coderl/cr/sandbox/jail"
)

// LocalOptions configure the jail on this machine. Zero fields mean the
// default.
type LocalOptions struct {
	Workers int    // jobs at a time; default one a processor
	Python  string // interpreter; default the first usable python3
	// Unsafe allows running without isolation where the host gives none. It
	// never weakens a host that can isolate.
	Unsafe bool
	Limits Limits // for jobs that name none; see DefaultLimits
}

// Local runs jobs in a jail on this machine.
type Local struct {
	pool      *jail.Pool
	limits    Limits
	isolation Isolation
}

// NewLocal finds the strongest isolation that this host allows, by trying, and
// starts the lanes. Where there is none it fails with [jail.ErrNoIsolation] and
// the ways out, unless opts.Unsafe is set.
func NewLocal(opts LocalOptions) (*Local, error) {
	if opts.Workers <= 0 {
		opts.Workers = runtime.NumCPU()
	}
	python, err := jail.FindPython(opts.Python)
	if err != nil {
		return nil, fmt.Errorf("start sandbox: %w", err)
	}
	pool, err := jail.Open(opts.Workers, python, opts.Unsafe)
	if err != nil {
		return nil, fmt.Errorf("start sandbox: %w", err)
	}
	return &Local{
		pool:   pool,
		limits: opts.Limits.or(DefaultLimits()),
		isolation: Isolation{
			Tier:        pool.Tier().String(),
			Layers:      pool.Layers(),
			Interpreter: python.Version,
		},
	}, nil
}

// Run runs one job in the next free lane.
func (l *Local) Run(ctx context.Context, job Job) (Result, error) {
	language, err := lookUp(job.Language)
	if err != nil {
		return Result{}, err
	}
	limits := job.Limits.or(l.limits)
	out, err := l.pool.Run(ctx, language.prepare(&job, limits))
	if err != nil {
		return Result{}, fmt.Errorf("run %s program: %w", job.Language, err)
	}
	return newResult(&out, &limits, job.Call != nil), nil
}

// Isolation says which layers hold.
func (l *Local) Isolation() Isolation { return l.isolation }

// Close ends every running job and removes all traces.
func (l *Local) Close() error {
	if err := l.pool.Close(); err != nil {
		return fmt.Errorf("close sandbox: %w", err)
	}
	return nil
}

// MaybeRunStub makes this process a part of the jail if it was started as one,
// and returns otherwise. Every program that uses [NewLocal] calls it first in
// main, and tests in TestMain: the jail starts the running binary again to
// build a lane from inside.
func MaybeRunStub() { jail.MaybeRunStub() }

// ErrNoIsolation is what NewLocal's error wraps on a host that cannot isolate.
var ErrNoIsolation = jail.ErrNoIsolation
