// Package service is the sandbox behind HTTP, in the dialect of SandboxFusion
// and ScaleBox, so that their clients work unchanged.
//
// Nothing waits for a processor but in one place: the gate, which gives out the
// executor's slots one program run at a time, in turn among clients. Admission
// bounds what may wait. A limit counts from a program's start, and a failure of
// ours is a SandboxError, never a wrong answer. What differs from ScaleBox is
// listed in docs/sandbox.md.
package service

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
)

// Config is how a service works. Zero fields mean the default.
type Config struct {
	// Workers is how many programs run at a time; it is the executor's number of
	// slots. Default one a processor.
	Workers int
	// MaxMemory bounds the memory of a program, in bytes; a request may ask for
	// less. Default 4 GiB.
	MaxMemory int64
	// Token, unless empty, is the bearer token that requests must carry.
	Token string
	// MaxPending bounds the requests in the house, waiting ones included; more
	// are answered 429. Default 4096.
	MaxPending int
	// MaxBody bounds a request's body, in bytes. Default 256 MiB.
	MaxBody int64
	// MaxBodies bounds all bodies in the house together. Default 2 GiB.
	MaxBodies int64
	// Assert judges the test type assert; without it such requests are answered
	// with a SandboxError.
	Assert AssertJudge
	// Pod is repeated in every answer, as executor_pod_name.
	Pod string
	// Log is where failures of the sandbox are written. Default slog.Default().
	Log *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Workers <= 0 {
		c.Workers = runtime.NumCPU()
	}
	if c.MaxMemory <= 0 {
		c.MaxMemory = sandbox.DefaultLimits().Memory
	}
	if c.MaxPending <= 0 {
		c.MaxPending = 4096
	}
	if c.MaxBody <= 0 {
		c.MaxBody = 256 << 20
	}
	if c.MaxBodies <= 0 {
		c.MaxBodies = max(2<<30, c.MaxBody)
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

// Service answers requests by one executor. It is safe for concurrent use.
type Service struct {
	cfg       Config
	exec      sandbox.Executor
	judge     *judge.Judge
	gate      *gate
	admission *admission
	metrics   *metrics
	health    health
	languages []string
	openAPI   []byte
	check     authorizer
}

// New returns a service over exec, which the caller closes once the service has
// answered its last request.
func New(exec sandbox.Executor, cfg Config) *Service {
	cfg = cfg.withDefaults()
	s := &Service{
		cfg:       cfg,
		exec:      exec,
		judge:     judge.New(exec),
		gate:      newGate(cfg.Workers),
		admission: newAdmission(cfg.MaxPending, cfg.MaxBodies, cfg.MaxBody),
		languages: languageNames(),
		check:     newAuthorizer(cfg.Token),
	}
	s.metrics = newMetrics(s)
	s.openAPI = openAPIDocument(s.languages)
	return s
}

// Drain refuses new requests from now on; those in the house are answered.
func (s *Service) Drain() { s.admission.drain() }

// retryAfter is how long a refused client had better wait, in whole seconds: the
// time in which the house would empty at two seconds a request and slot, within
// reason. Clients of verl wait forty seconds anyway.
func (s *Service) retryAfter() int {
	pending, _ := s.admission.state()
	return min(max(1, 2*pending/s.cfg.Workers), 30)
}

// shutdownGrace is how long Serve waits for requests in the house.
const shutdownGrace = 30 * time.Second

// canceled says whether the client of ctx has gone.
func canceled(ctx context.Context) bool { return ctx.Err() != nil }
