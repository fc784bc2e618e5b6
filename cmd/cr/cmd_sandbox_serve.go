package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/judge"
	"github.com/coderl/cr/sandbox/service"
)

type sandboxServeCmd struct {
	sandboxFlags `embed:""`

	Host         string   `default:"127.0.0.1" env:"HOST" help:"Address to listen on; 0.0.0.0 is every one."`
	Port         uint16   `default:"8080" env:"PORT" help:"Port to listen on; 0 picks a free one."`
	Workers      int      `default:"0" env:"WORKERS" help:"Programs that run at a time (default: one a processor)."`
	MaxMem       byteSize `default:"4G" help:"Memory limit of a program: bytes, or with K, M, G. MAX_MEM gives it in KB."`
	MaxMemKB     memoryKB `hidden:"" name:"max-mem-kb" env:"MAX_MEM" help:"As ScaleBox has it."`
	Token        string   `env:"CR_SANDBOX_TOKEN" placeholder:"TOKEN" help:"Bearer token that requests must carry."`
	RequireToken bool     `help:"Refuse to listen on a public address without a token."`
	MaxPending   int      `default:"4096" help:"Requests that may wait or run; more are answered 429."`
	MaxBody      byteSize `default:"256M" help:"Size limit of a request."`
}

// heapFloor is memory that is reserved and never touched, so that the collector
// counts on it and runs once in a thousand jobs or so. A small heap that fills with
// their short-lived data it would clean for every few dozen.
const heapFloor = 64 << 20

// memoryKB is a number of KB, or "unlimited" as for ulimit, which is none.
type memoryKB int64

// UnmarshalText reads the flag.
func (m *memoryKB) UnmarshalText(text []byte) error {
	if s := string(text); s == "" || s == "unlimited" {
		return nil
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n <= 0 || n > 1<<50 {
		return fmt.Errorf("%q: want a number of KB, such as 4194304", text)
	}
	*m = memoryKB(n)
	return nil
}

// Help is shown below the flags.
func (sandboxServeCmd) Help() string {
	return `Example:
  cr sandbox serve --workers 8 --max-mem 2G
  curl -d '{"language":"python","code":"print(1)"}' -H 'Content-Type: application/json' http://127.0.0.1:8080/run_code

The API is that of SandboxFusion and ScaleBox; GET /openapi.json describes it, and
docs/sandbox.md lists the differences. HOST, PORT, WORKERS and MAX_MEM mean what
they mean to ScaleBox. SIGTERM ends it: requests that are in are answered first.`
}

// Validate is called by Kong after parsing.
func (s *sandboxServeCmd) Validate() error {
	switch {
	case s.Workers < 0:
		return fmt.Errorf("--workers %d: want 1 or more, or 0 for one a processor", s.Workers)
	case s.MaxPending < 1:
		return fmt.Errorf("--max-pending %d: want 1 or more", s.MaxPending)
	case s.RequireToken && s.Token == "" && public(s.Host):
		return fmt.Errorf("--host %s is a public address and there is no token; give one with --token or CR_SANDBOX_TOKEN", s.Host)
	}
	return nil
}

// public says whether others than this host can reach an address.
func public(host string) bool {
	if host == "localhost" {
		return false
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip == nil || !ip.IsLoopback()
}

// Run serves until a signal.
func (s *sandboxServeCmd) Run(ctx context.Context, c *console) (err error) {
	if s.Workers == 0 {
		s.Workers = runtime.NumCPU()
	}
	if s.MaxMemKB > 0 {
		s.MaxMem = byteSize(s.MaxMemKB << 10)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(strings.Trim(s.Host, "[]"), strconv.Itoa(int(s.Port))))
	if err != nil {
		return fmt.Errorf("sandbox serve: %w (choose another address with --host and --port)", err)
	}
	defer listener.Close()
	executor, err := s.open(s.Workers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, executor.Close()) }()
	defer runtime.KeepAlive(make([]byte, heapFloor))
	s.warn(c)
	if err := s.announce(c, listener.Addr(), executor.Isolation()); err != nil {
		return err
	}
	return s.service(c, executor).Serve(ctx, listener)
}

func (s *sandboxServeCmd) service(c *console, executor sandbox.Executor) *service.Service {
	return service.New(executor, service.Config{
		Workers:    s.Workers,
		MaxMemory:  int64(s.MaxMem),
		Token:      s.Token,
		MaxPending: s.MaxPending,
		MaxBody:    int64(s.MaxBody),
		Assert:     service.Asserts{Judge: judge.New(executor), Exec: executor},
		Pod:        os.Getenv("MY_POD_NAME"), // as ScaleBox reads it
		Log:        c.log,
	})
}

// warn says loudly, --quiet or not, that anybody can run programs here. Existing
// clients send no token, so it is no error.
func (s *sandboxServeCmd) warn(c *console) {
	if s.Token == "" && public(s.Host) {
		fmt.Fprintf(c.err, "WARNING: %s is a public address and there is no token: anybody who reaches it can run programs here.\n"+
			"WARNING: listen on 127.0.0.1, or set --token; --require-token makes this an error.\n", s.Host)
	}
}

// announce prints where the service listens, once it does.
func (s *sandboxServeCmd) announce(c *console, at net.Addr, isolation sandbox.Isolation) error {
	url := "http://" + at.String()
	c.note("sandbox serve: %s; isolation %s (%s); %d programs at a time, %d MB each; Python %s",
		url, isolation.Tier, strings.Join(isolation.Layers, ", "), s.Workers, int64(s.MaxMem)>>20, isolation.Interpreter)
	return c.result(map[string]any{"url": url, "workers": s.Workers, "isolation": isolation}, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, url)
		return err
	})
}
