// Command cr builds code datasets, evaluates and trains code models, and judges
// their programs in an isolated sandbox.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/coderl/cr/sandbox"
)

// version is set by the linker.
var version = "development"

func main() {
	// The sandbox starts this binary again as the first process of a jail.
	sandbox.MaybeRunStub()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal kills: the first one's clean-up may be what hangs.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
