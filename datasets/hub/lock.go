package hub

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/coderl/cr/internal/retry"
)

// Waiting for another process: how often it is tried, how often it is said.
const (
	lockPoll = 200 * time.Millisecond
	lockSay  = 10 * time.Second
)

// lock waits until no other process fetches the same content, for as long as
// that takes. It only saves bandwidth: where no lock can be had (a file system
// without them, a folder that is not ours) the download goes on without one, and
// held is false.
func (c *Client) lock(ctx context.Context, path string) (unlock func(), held bool, err error) {
	none := func() {}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.options.Log.Debug("hub: no lock", "error", err)
		return none, false, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o664)
	if err != nil {
		c.options.Log.Debug("hub: no lock", "error", err)
		return none, false, nil
	}
	// Closing drops the lock; what else may fail then is of no consequence.
	unlock = func() { _ = f.Close() }
	for waited := time.Duration(0); ; waited += lockPoll {
		held, err = tryLock(f)
		if held || err != nil {
			return unlock, held, nil
		}
		if waited%lockSay == 0 {
			c.options.Log.Info("hub: another process fetches this file; waiting", "lock", path)
		}
		if err := retry.Sleep(ctx, lockPoll); err != nil {
			unlock()
			return none, false, err
		}
	}
}
