package jail

import (
	"time"

	"golang.org/x/sys/unix"
)

// programFiles is how many descriptors a program may hold; lane.py uses the
// highest.
const programFiles = 256

// addressOverhead is what a warm interpreter maps before the program starts.
const addressOverhead = 256 << 20

// rlimits are the limits of one process. They stand behind the control group
// where there is one, and in for it where there is none.
func (t Tier) rlimits(job *Job) []rlimit {
	l := &job.Limits
	seconds := int64((l.CPU+time.Second-1)/time.Second) + 1
	limits := []rlimit{
		{unix.RLIMIT_CPU, seconds, seconds + 1},
		{unix.RLIMIT_FSIZE, scratchSize, scratchSize},
		{unix.RLIMIT_NOFILE, programFiles, programFiles},
		{unix.RLIMIT_NPROC, int64(l.Processes) + 1, int64(l.Processes) + 1},
		{unix.RLIMIT_MSGQUEUE, 0, 0},
		// A limit of 1, unlike 0, also keeps the host's own handler of core dumps,
		// which runs outside of any jail, from being started.
		{unix.RLIMIT_CORE, 1, 1},
	}
	sparse := job.Exec != nil && job.Exec.Sparse
	if !sparse && (!t.grouped() || l.AddressSpace) {
		limits = append(limits, rlimit{unix.RLIMIT_AS, l.Memory + addressOverhead, l.Memory + addressOverhead})
	}
	return limits
}
