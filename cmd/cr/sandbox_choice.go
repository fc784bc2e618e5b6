package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/coderl/cr/eval"
	"github.com/coderl/cr/sandbox"
	"github.com/coderl/cr/sandbox/remote"
)

// embeddedSandbox is the value of --sandbox for the one in this process.
const embeddedSandbox = "embedded"

// executorFlags choose where programs run: in the embedded sandbox or at a
// service.
type executorFlags struct {
	sandboxFlags `embed:""`

	Sandbox            string        `default:"embedded" placeholder:"embedded|URL" help:"Where programs run: the embedded sandbox, or the URL of a service (cr sandbox serve, ScaleBox)."`
	SandboxToken       string        `env:"CR_SANDBOX_TOKEN" placeholder:"TOKEN" help:"Bearer token for the service."`
	SandboxConcurrency int           `placeholder:"N" help:"Programs at the service at a time (default: twice its workers; 8 if it does not say)."`
	SandboxWait        time.Duration `default:"5m" help:"How long a service that is down is tried again, and an answer waited for beyond a program's own limits."`
}

// Validate is called by the commands that embed the flags.
func (f executorFlags) Validate() error {
	switch {
	case f.SandboxConcurrency < 0 || f.SandboxConcurrency > mostSequences:
		return fmt.Errorf("--sandbox-concurrency %d: want 1 to %d", f.SandboxConcurrency, mostSequences)
	case f.SandboxWait <= 0:
		return fmt.Errorf("--sandbox-wait %v: want a time above 0, such as 5m", f.SandboxWait)
	case f.Sandbox == embeddedSandbox:
		return nil
	case f.Python != "" || f.Unsafe:
		return errors.New("--python and --unsafe are for the embedded sandbox; a service has its own")
	}
	if u, err := url.Parse(f.Sandbox); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("--sandbox %s: neither embedded nor an http(s) URL, such as http://host:8080", f.Sandbox)
	}
	return nil
}

// open starts the sandbox, or connects to the service.
func (f executorFlags) open(ctx context.Context, c *console) (sandbox.Executor, error) {
	if f.Sandbox == embeddedSandbox {
		return f.sandboxFlags.open(0)
	}
	if u, err := url.Parse(f.Sandbox); err == nil {
		c.note("sandbox %s: asking what it is; one that is starting is waited for, half a minute", u.Redacted())
	}
	client, err := remote.Open(ctx, remote.Options{
		URL: f.Sandbox, Token: f.SandboxToken, Parallel: f.SandboxConcurrency, Patience: f.SandboxWait,
	})
	switch {
	case errors.Is(err, remote.ErrToken):
		return nil, usagef("%w (the token is --sandbox-token or CR_SANDBOX_TOKEN)", err)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("--sandbox: %w (is it running, and is this its address?)", err)
	}
	c.note("programs run at a service: %s", strings.Join(client.Isolation().Layers, ", "))
	if !client.Own() {
		c.note("it knows no CPU time: limits are wall time there, and a busy service fails right programs; docs/sandbox.md has what else is weaker")
	}
	return client, nil
}

// judgesFor is how many programs are judged at a time, 0 for eval's own choice. A
// program has several tests, so fewer than a service runs keep it busy.
func judgesFor(executor sandbox.Executor) int {
	const least, most = 2, 64
	client, ok := executor.(*remote.Client)
	if !ok {
		return 0
	}
	return min(max(least, client.Parallel()/4), most)
}

// sandboxSettings are what a run records of its sandbox. A service is named by
// what it is, not by its address, so that a run can go on at another.
func sandboxSettings(executor sandbox.Executor) []eval.Setting {
	isolation := executor.Isolation()
	settings := []eval.Setting{
		{Name: "sandbox", Value: isolation.Tier}, {Name: "interpreter", Value: isolation.Interpreter},
	}
	if _, ok := executor.(*remote.Client); ok {
		settings = append(settings, eval.Setting{Name: "sandbox_service", Value: isolation.Layers[0]})
	}
	return settings
}
