package sandbox_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
)

// soakEnv is how many jobs the soak test runs; without it there is none.
const soakEnv = "CR_SOAK"

// soakJob is a kind of job with its one right status; share is how often it comes.
type soakJob struct {
	share  int
	job    sandbox.Job
	want   sandbox.Status
	stdout string
}

// soakJobs are mostly what a judge sees, with the ill-behaved among them.
func soakJobs() []soakJob {
	quick := sandbox.Limits{CPU: 200 * time.Millisecond, Wall: 2 * time.Second, Memory: 128 << 20, Output: 1 << 20}
	code := func(share int, want sandbox.Status, stdout string, lines ...string) soakJob {
		return soakJob{share, sandbox.Job{Code: py(lines...), Limits: sandbox.Limits{Memory: 256 << 20}}, want, stdout}
	}
	short := func(j soakJob) soakJob { j.job.Limits = quick; return j }
	wrong := benchAssert
	wrong.Code = "import os\ndef close(xs, d): os._exit(0)\n"
	return []soakJob{
		{3000, benchStdin, sandbox.OK, "3\n7\n11\n"},
		{3000, benchCall, sandbox.OK, ""},
		{1500, benchAssert, sandbox.OK, ""},
		{200, wrong, sandbox.OK, ""},
		code(500, sandbox.RuntimeError, "x\n", "import os", "print('x', flush=True)", "os.abort()"),
		code(300, sandbox.RuntimeError, "", "import os", "os.kill(os.getpid(), 9)"),
		code(300, sandbox.OK, "", "import os", "try: os.kill(-1, 9)", "except OSError: pass", "try: os.kill(1, 9)", "except OSError: pass"),
		code(300, sandbox.OK, "1\n", "import subprocess", "subprocess.Popen(['sleep', '60'], start_new_session=True)", "print(1)"),
		code(200, sandbox.OK, "", "import os", "for i in range(100): open('/tmp/%d' % i, 'w').write('x' * 1000)", "os.makedirs('a/b/c')"),
		code(200, sandbox.CompileError, "", "def f(:"),
		code(60, sandbox.MemoryLimitExceeded, "", "a = []", "while True: a.append(bytearray(1 << 20))"),
		short(code(60, sandbox.TimeLimitExceeded, "", "while True: pass")),
		short(code(40, sandbox.TimeLimitExceeded, "", "import os", "while True:", "    try: os.fork()", "    except OSError: pass")),
		short(code(40, sandbox.OutputLimitExceeded, "", "while True: print('x' * 100000)")),
	}
}

// TestSoak runs many random jobs and looks for wrong verdicts and for anything
// that is left or grows.
func TestSoak(t *testing.T) {
	total, err := strconv.Atoi(os.Getenv(soakEnv))
	if err != nil || total <= 0 {
		t.Skipf("%s is not set: the number of jobs to run", soakEnv)
	}
	mounts, descriptors := countMounts(t), countDescriptors(t)
	l, err := sandbox.NewLocal(sandbox.LocalOptions{})
	if err != nil {
		t.Skip(err)
	}
	jobs, shares := soakJobs(), 0
	for _, j := range jobs {
		shares += j.share
	}
	var done, bad atomic.Int64
	var first, last int64
	next := make(chan soakJob)
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for j := range next {
				if wrong := soakOne(l, j); wrong != "" && bad.Add(1) < 20 {
					t.Error(wrong)
				}
				done.Add(1)
			}
		})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range total {
		if i == total/10 {
			first = residentBytes(t)
		}
		pick := random.IntN(shares)
		at := 0
		for ; pick >= jobs[at].share; at++ {
			pick -= jobs[at].share
		}
		next <- jobs[at]
	}
	close(next)
	wg.Wait()
	last = residentBytes(t)
	t.Logf("%d jobs, %d wrong; resident %d MB after a tenth, %d MB at the end", done.Load(), bad.Load(), first>>20, last>>20)
	if last > first+64<<20 {
		t.Error("resident memory grew")
	}
	pid := os.Getpid()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if left := descendants(t, pid); len(left) > 1 { // the ps that lists them
		t.Errorf("processes left: %v", left)
	}
	if left := groupsOf(t, pid); len(left) > 0 {
		t.Errorf("control groups left: %v", left)
	}
	if now := countMounts(t); now > mounts {
		t.Errorf("%d mounts, %d before", now, mounts)
	}
	if now := countDescriptors(t); now > descriptors+2 {
		t.Errorf("%d descriptors, %d before", now, descriptors)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "cr-lane-*")); err != nil || len(left) > 0 {
		t.Errorf("directories left: %v %v", left, err)
	}
}

// soakOne runs one job and says what is wrong with its result.
func soakOne(l *sandbox.Local, j soakJob) string {
	j.job.Language = "python"
	r, err := l.Run(context.Background(), j.job)
	passed := r.Check != nil && r.Check.Passed
	switch {
	case err != nil:
		return err.Error()
	case r.Status != j.want, j.stdout != "" && string(r.Stdout) != j.stdout:
		return fmt.Sprintf("%s %q (CPU %v, wall %v, memory %d MB, stderr %.200q), want %s for\n%s", r.Status, r.Stdout, r.CPU, r.Wall, r.Memory>>20, r.Stderr, j.want, j.job.Code)
	case j.job.Call != nil && string(r.Value) != "6":
		return fmt.Sprintf("value %q", r.Value)
	case j.job.Check != nil && passed != (j.job.Code == benchAssert.Code):
		return fmt.Sprintf("check %+v", r.Check)
	}
	return ""
}

func countMounts(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

func countDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// residentBytes is this process's resident memory.
func residentBytes(t *testing.T) int64 {
	t.Helper()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(data))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
