package jail

import (
	"context"
	"errors"
	"runtime"
	"time"
)

// meter reads what a job has used so far.
type meter struct {
	lane     *lane
	counts   bool // CPU time comes from a control group
	started  time.Time
	startCPU time.Duration
	startOOM int64
	startUse int64 // memory charged to the lane before, files in the page cache included
	exec     bool  // a process's own peak includes that of the interpreter it was forked from
}

// measure sets the lane's group to the job's limits and starts counting.
func (l *lane) measure(limits *Limits) (*meter, error) {
	m := &meter{lane: l, started: time.Now()}
	if l.group == nil {
		return m, nil
	}
	err := errors.Join(
		l.group.SetMemory(limits.Memory+l.baseline),
		// PID 1 and one to spare: the limit is on what the program may add.
		l.group.SetPids(limits.Processes+2),
	)
	if err != nil {
		return nil, err
	}
	l.group.ResetPeak()
	m.startUse = l.group.Usage()
	if m.startOOM, err = l.group.OOMKills(); err != nil {
		return nil, err
	}
	m.startCPU, err = l.group.CPU()
	m.counts = err == nil
	return m, nil
}

// cpu is the CPU time of all the job's processes, dead or alive.
func (m *meter) cpu() time.Duration {
	if !m.counts {
		return treeCPU(m.lane.cmd.Process.Pid) - m.startCPU
	}
	now, err := m.lane.group.CPU()
	if err != nil {
		return 0
	}
	return now - m.startCPU
}

// ending is how a job's run ended, with the last readings.
type ending struct {
	stop      Stop
	cancelled bool
	answer    answer
	cpu, wall time.Duration
	peak      int64
	ooms      int64
}

// stopped says that the job did not end by itself.
func (e *ending) stopped() bool { return e.stop != NotStopped || e.cancelled }

// watch guards one running job.
type watch struct {
	lane    *lane
	meter   *meter
	limits  *Limits
	ch      *channels
	answers <-chan answer
}

// wait returns when the job has ended or must be ended. CPU time decides; the
// wall clock only guards against programs that sleep.
func (w *watch) wait(ctx context.Context) (end ending) {
	timer := time.NewTimer(w.pause(0, 0))
	defer timer.Stop()
	for {
		select {
		case end.answer = <-w.answers:
			w.read(&end)
			return end
		case <-w.ch.over:
			end.stop = StopOutput
		case <-ctx.Done():
			end.cancelled = true
		case <-timer.C:
			end.stop = w.expired()
			if end.stop == NotStopped {
				timer.Reset(w.pause(w.meter.cpu(), time.Since(w.meter.started)))
				continue
			}
		}
		w.read(&end)
		return end
	}
}

// read takes the last readings, while the group still exists.
func (w *watch) read(end *ending) {
	end.wall = time.Since(w.meter.started)
	end.cpu = w.meter.cpu()
	g := w.lane.group
	if g == nil && end.stop == StopMemory {
		end.peak = treeMemory(w.lane.cmd.Process.Pid)
	}
	if g != nil {
		end.peak = max(0, g.Peak()-w.meter.startUse)
		if n, err := g.OOMKills(); err == nil {
			end.ooms = n - w.meter.startOOM
		}
	}
}

// expired says whether a limit that must be looked for has passed.
func (w *watch) expired() Stop {
	if w.meter.cpu() > w.limits.CPU {
		return StopCPU
	}
	if w.lane.group == nil && treeMemory(w.lane.cmd.Process.Pid) > w.limits.Memory {
		return StopMemory
	}
	wall := time.Since(w.meter.started)
	if wall < w.limits.Wall {
		return NotStopped
	}
	// On a crowded host a busy program waits for a processor; that is not the
	// program's sleep.
	if wall < maxStretch*w.limits.Wall && wall-treeDelay(w.lane.cmd.Process.Pid) < w.limits.Wall {
		return NotStopped
	}
	return StopWall
}

// maxStretch bounds how far waiting for a processor extends the wall guard.
const maxStretch = 10

// Bounds on the time between two looks at a job.
const (
	minPause = 5 * time.Millisecond
	maxPause = 500 * time.Millisecond
)

// pause is how long a job may run unobserved: no limit can pass by much more
// than the smallest pause.
func (w *watch) pause(cpu, wall time.Duration) time.Duration {
	left := (w.limits.CPU - cpu) / time.Duration(min(runtime.NumCPU(), w.limits.Processes))
	guard := w.limits.Wall - wall
	if guard <= 0 { // the program has waited for a processor
		guard += treeDelay(w.lane.cmd.Process.Pid)
	}
	left = min(left, guard)
	return min(max(left, minPause), maxPause)
}
