package jail

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// request asks a lane to run the job whose descriptors come with it.
type request struct {
	token    string
	uid, gid int // 0: keep the lane's
	dropCaps bool
	check    bool // a checker runs beside the program
	checker  int  // its uid and gid
	rlimits  []rlimit
}

// rlimit is one resource limit; -1 is no limit.
type rlimit struct {
	number     int
	soft, hard int64
}

// text writes "TOKEN UID GID DROPCAPS CHECK CHECKER", and "NUMBER SOFT HARD" for
// each limit. Numbers and blanks cost the lane's child least to read.
func (r *request) text() []byte {
	flag := map[bool]int{true: 1}
	out := fmt.Appendf(nil, "%s %d %d %d %d %d", cmp.Or(r.token, "-"), r.uid, r.gid, flag[r.dropCaps], flag[r.check], r.checker)
	for _, l := range r.rlimits {
		out = fmt.Appendf(out, " %d %d %d", l.number, l.soft, l.hard)
	}
	return out
}

// reply is what a lane says when a job is over and its traces are gone.
type reply struct {
	status syscall.WaitStatus
	cpu    time.Duration // of all processes that were reaped
	maxRSS int64         // bytes
	clean  bool          // nothing is left in the writable places
}

// readReply reads "STATUS MICROSECONDS KIBIBYTES CLEAN".
func readReply(msg []byte) (r reply, err error) {
	var micros, kib int64
	var clean int
	if _, err := fmt.Sscanf(string(msg), "%d %d %d %d", &r.status, &micros, &kib, &clean); err != nil {
		return reply{}, fmt.Errorf("lane answered %.80q: %w", msg, err)
	}
	r.cpu, r.maxRSS, r.clean = time.Duration(micros)*time.Microsecond, kib<<10, clean == 1
	return r, nil
}

// payloadHead is the first line of a payload; raw parts of the given sizes
// follow: the program, the files, the call's arguments.
type payloadHead struct {
	Sizes    []int      `json:"sizes"`
	Files    []string   `json:"files"`
	Args     []string   `json:"args"`
	Call     *Call      `json:"call"`
	Prelude  bool       `json:"prelude"`
	LongInts bool       `json:"longints"`
	Fetch    []string   `json:"fetch"`
	Argv     []string   `json:"argv"` // nil: run the program in the warm interpreter
	Env      []string   `json:"env"`
	Stack    int64      `json:"stack"`
	Main     bool       `json:"main"`  // with a check: run the program as __main__
	Check    *testsHead `json:"check"` // tests to run in the program's process
}

// testsHead opens the payload of a checker; the test code follows.
type testsHead struct {
	Token string `json:"token"`
	Setup string `json:"setup"`
	Entry string `json:"entry"`
	Sizes []int  `json:"sizes"`
}

// testsPayload writes a check for a checker's process. It alone gets the token.
func testsPayload(check *Check, token string) ([]byte, error) {
	head := testsHead{Token: token, Setup: check.Setup, Entry: check.Entry, Sizes: []int{len(check.Tests)}}
	line, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("write check: %w", err)
	}
	return append(append(line, '\n'), check.Tests...), nil
}

// payload writes a job for the lane's child.
func payload(job *Job) ([]byte, error) {
	head := payloadHead{Call: job.Call, Prelude: job.Prelude, LongInts: job.LongInts, Args: job.Args, Fetch: job.Fetch, Files: []string{}}
	if head.Args == nil {
		head.Args = []string{}
	}
	if job.Exec != nil {
		head.Argv = slices.Concat(job.Exec.Argv, job.Args)
		head.Env, head.Stack = job.Exec.Env, job.Exec.Stack
	}
	parts := [][]byte{job.Code}
	for name := range job.Files {
		if !filepath.IsLocal(name) || name != filepath.Clean(name) || name == "." || job.Exec == nil && name == "main.py" {
			return nil, fmt.Errorf("job file %q: not a free path below the working directory", name)
		}
		head.Files = append(head.Files, name)
	}
	for _, name := range head.Fetch {
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("file to fetch %q: not a path below the working directory", name)
		}
	}
	slices.Sort(head.Files)
	for _, name := range head.Files {
		parts = append(parts, job.Files[name])
	}
	if job.Call != nil {
		for _, arg := range job.Call.Args {
			parts = append(parts, arg)
		}
	}
	if c := job.Check; c != nil {
		head.Main = c.Main
		if c.Together {
			head.Check = &testsHead{Entry: c.Entry}
			parts = append(parts, []byte(c.Tests))
		}
	}
	for _, p := range parts {
		head.Sizes = append(head.Sizes, len(p))
	}
	line, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("write job: %w", err)
	}
	return append(append(line, '\n'), bytes.Join(parts, nil)...), nil
}

// sealed puts data into a memory file that nobody can change, for a program to
// read as its standard input or a job description.
func sealed(name string, data []byte) (fd int, err error) {
	fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, fmt.Errorf("make memory file: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, unix.Close(fd))
		}
	}()
	for rest := data; len(rest) > 0; {
		n, err := unix.Write(fd, rest)
		if err != nil {
			return -1, fmt.Errorf("fill memory file: %w", err)
		}
		rest = rest[n:]
	}
	const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return -1, fmt.Errorf("seal memory file: %w", err)
	}
	if _, err := unix.Seek(fd, 0, unix.SEEK_SET); err != nil {
		return -1, fmt.Errorf("rewind memory file: %w", err)
	}
	return fd, nil
}

// outputPipe makes a pipe whose reading end is ours and whose writing end goes
// to the program. The program's uid differs from ours, so the pipe must be open
// to all for /dev/stdout to work.
func outputPipe() (r *os.File, w int, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, -1, fmt.Errorf("make pipe: %w", err)
	}
	if err := errors.Join(unix.Fchmod(fds[1], 0o622), unix.SetNonblock(fds[0], true)); err != nil {
		return nil, -1, errors.Join(fmt.Errorf("prepare pipe: %w", err), unix.Close(fds[0]), unix.Close(fds[1]))
	}
	return os.NewFile(uintptr(fds[0]), "program output"), fds[1], nil
}
