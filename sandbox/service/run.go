package service

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/coderl/cr/sandbox"
)

// run runs one job in the next slot that the client gets.
func (s *Service) run(ctx context.Context, client string, job sandbox.Job) (sandbox.Result, error) {
	if err := s.acquire(ctx, client); err != nil {
		return sandbox.Result{}, err
	}
	defer s.gate.release()
	return s.exec.Run(ctx, job)
}

// acquire waits for a slot and notes how long that took.
func (s *Service) acquire(ctx context.Context, client string) error {
	start := time.Now()
	err := s.gate.acquire(ctx, client)
	s.metrics.waited.Observe(time.Since(start).Seconds())
	return err
}

// errUnread answers a run whose output finds no room beside those of other answers
// that their clients have not read yet.
var errUnread = errors.New("too many large answers are waiting to be read; try again later")

// runCode answers /run_code.
func (s *Service) runCode(ctx context.Context, guest *visit, r runRequest) (runResponse, error) {
	if r.runTime == 0 {
		// No program can end in no time; none is started to show it.
		return runResponse{
			Status: failed, Files: map[string]string{},
			RunResult: &commandResult{Status: timedOut},
		}, nil
	}
	limits := s.limits(r.runTime, r.memory)
	limits.AddressSpace = r.memory > 0
	limits.Wall = r.runTime // a program that sleeps has no more time than one that works
	job := sandbox.Job{
		Language: r.language, Code: r.code, Stdin: []byte(r.stdin),
		Files: r.files, Fetch: r.fetch, CompileTime: r.compileTime, Limits: limits,
	}
	r.ext.apply(&job)
	run, err := s.run(ctx, guest.client, job)
	if err != nil {
		return ours(s.fault(ctx, "run_code", err)), nil
	}
	if !guest.grow(outputOf(&run)) {
		return runResponse{}, errUnread
	}
	s.metrics.runs.WithLabelValues(string(run.Status)).Inc()
	answer := answerOf(&run)
	r.ext.extend(&answer, &run)
	return answer, nil
}

// outputOf is the size of what a run left for its answer.
func outputOf(run *sandbox.Result) int64 {
	n := len(run.Stdout) + len(run.Stderr) + len(run.Value)
	for name, data := range run.Files {
		n += len(name) + len(data)
	}
	return int64(n)
}

// limits are the limits of a program that asks for them; nobody gets more
// memory than the service gives.
func (s *Service) limits(cpu time.Duration, memory int64) sandbox.Limits {
	if memory <= 0 || memory > s.cfg.MaxMemory {
		memory = s.cfg.MaxMemory
	}
	return sandbox.Limits{CPU: cpu, Memory: memory}
}

// fault notes a failure of the sandbox and returns its message for the client. A
// language that is not here, and a client that has gone, are no failures.
func (s *Service) fault(ctx context.Context, what string, err error) string {
	if errors.As(err, new(*sandbox.LanguageError)) || ctx.Err() != nil {
		return err.Error()
	}
	s.metrics.faults.Inc()
	s.cfg.Log.LogAttrs(ctx, slog.LevelError, "the sandbox failed", slog.String("request", what), slog.Any("error", err))
	return err.Error()
}
