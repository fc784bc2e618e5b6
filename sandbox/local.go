package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/coderl/cr/sandbox/build"
	"github.com/coderl/cr/sandbox/jail"
	"github.com/coderl/cr/sandbox/lang"
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
	// CacheDir keeps compiled programs, and what tool chains make once, from one
	// process to the next; several may share it. Default cr/sandbox in the user's
	// cache directory, for root in /var/cache.
	CacheDir string
}

// Local runs jobs in a jail on this machine.
type Local struct {
	pool      *jail.Pool
	tools     tools
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
	l := &Local{limits: opts.Limits.or(DefaultLimits())}
	if err := l.open(opts, python); err != nil {
		return nil, fmt.Errorf("start sandbox: %w", err)
	}
	l.isolation = Isolation{
		Tier:        l.pool.Tier().String(),
		Layers:      l.pool.Layers(),
		Interpreter: python.Version,
	}
	return l, nil
}

// open finds the tool chains and starts the lanes, which must show them.
func (l *Local) open(opts LocalOptions, python *jail.Python) (err error) {
	built, prepared, err := cacheDirs(opts.CacheDir)
	if err != nil {
		return err
	}
	if l.tools.cache, err = build.New(built, build.DefaultDisk, build.DefaultMemory); err != nil {
		return err
	}
	l.tools.host = lang.NewHost(python.Path, prepared)
	python.Show(l.tools.host.Dirs()...)
	l.pool, err = jail.Open(opts.Workers, python, opts.Unsafe)
	l.tools.pool = l.pool
	if err == nil && l.pool.Tier() == jail.T3 {
		l.tools.host.Drop(jail.Private)
	}
	return err
}

// cacheDirs are the directories for compiled programs and for what tool chains
// make once. Where the default ones cannot be made both are "": everything works
// without them, slower.
func cacheDirs(dir string) (built, prepared string, err error) {
	chosen := dir != ""
	if dir = cmp.Or(dir, defaultCache()); dir == "" {
		return "", "", nil
	}
	built, prepared = filepath.Join(dir, "built"), filepath.Join(dir, "prepared")
	switch err := os.MkdirAll(prepared, 0o755); {
	case err == nil:
		return built, prepared, nil
	case chosen:
		return "", "", fmt.Errorf("make cache: %w", err)
	default:
		return "", "", nil
	}
}

// defaultCache is where a user's cache is. Root's is not in root's home, which
// programs under other uids may not be able to enter.
func defaultCache() string {
	if os.Geteuid() == 0 {
		return "/var/cache/cr/sandbox"
	}
	home, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, "cr", "sandbox")
}

// Run runs one job in the next free lane.
func (l *Local) Run(ctx context.Context, job Job) (Result, error) {
	language := lang.Find(job.Language)
	if language == nil {
		return Result{}, &LanguageError{Language: job.Language}
	}
	limits := job.Limits.or(l.limits)
	if !language.Warm() {
		r, err := l.tools.run(ctx, language, &job, limits)
		if err != nil {
			return Result{}, fmt.Errorf("run %s program: %w", language.Name, err)
		}
		return r, nil
	}
	out, err := l.pool.Run(ctx, prepare(&job, limits))
	if err != nil {
		return Result{}, fmt.Errorf("run %s program: %w", job.Language, err)
	}
	return newResult(&out, &limits, &job), nil
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
