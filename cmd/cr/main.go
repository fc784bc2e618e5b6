// Command cr builds code datasets, evaluates and trains code models, and judges
// their programs in an isolated sandbox.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/coderl/cr/sandbox"
)

// sameWish is how long after a signal another one means nothing new.
const sameWish = time.Second

// version is set by the linker.
var version = "development"

func main() {
	// The sandbox starts this binary again as the first process of a jail.
	sandbox.MaybeRunStub()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal kills: the first one's clean-up may be what hangs. One that
	// comes within a moment is the same wish said twice: timeout, just and others
	// pass a signal on that the whole process group gets anyway.
	context.AfterFunc(ctx, func() { time.AfterFunc(sameWish, stop) })
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
