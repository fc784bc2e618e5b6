package selftest

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/coderl/cr/sandbox"
)

// footprint is what this process holds of the host.
type footprint struct{ descriptors, mounts, children int }

func measure() (f footprint, err error) {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return f, fmt.Errorf("count descriptors: %w", err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return f, fmt.Errorf("count mounts: %w", err)
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return f, fmt.Errorf("count processes: %w", err)
	}
	for _, thread := range threads {
		// A thread that has ended meanwhile has no children.
		if data, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/children"); err == nil {
			f.children += len(bytes.Fields(data))
		}
	}
	f.descriptors, f.mounts = len(open), bytes.Count(mounts, []byte("\n"))
	return f, nil
}

// leaks runs many programs and looks whether anything of them stays.
func leaks(ctx context.Context, exec sandbox.Executor, runs int) (Outcome, error) {
	out := Outcome{
		Number: 33, Name: "many runs", OK: true,
		Tried: fmt.Sprintf("%d programs; count descriptors, mounts, processes", runs),
		Found: "nothing left",
	}
	var before footprint
	for i := range runs + 1 {
		if i == 1 { // the first run may still open something for good
			var err error
			if before, err = measure(); err != nil {
				return out, err
			}
		}
		r, err := exec.Run(ctx, sandbox.Job{Language: "python", Code: "import os\nos.fork()\nprint(1)\n"})
		if err != nil {
			return out, fmt.Errorf("self-test row 33, run %d: %w", i, err)
		}
		if r.Status != sandbox.OK {
			out.OK, out.Found = false, fmt.Sprintf("run %d: %s", i, r.Status)
			return out, nil
		}
	}
	after, err := measure()
	// A spare lane may be starting: one process with its socket.
	if slack := 4; after.descriptors > before.descriptors+slack || after.mounts > before.mounts || after.children > before.children+1 {
		out.OK, out.Found = false, fmt.Sprintf("before %+v, after %+v", before, after)
	}
	return out, err
}
