package jail

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/coderl/cr/sandbox/jail/seccomp"
)

// stubName is argv[0] of a process that is to become a lane.
const stubName = "cr-sandbox-lane"

// controlFD is the lane's end of the control socket.
const controlFD = 3

// layout tells the stub what to build; it is its first control message.
type layout struct {
	Namespaces bool // in namespaces of its own, with capabilities over them
	Mount      string
	Binds      []string // host paths shown read-only under the same name
	Scratch    int64    // bytes of each writable place
	Lane       []byte   // source of the lane program
	Argv       []string
	Env        []string
	Confine    string // "" or the only directory to write in, by Landlock
	Counted    bool   // a control group counts its memory
	DropRoot   bool   // uid 0 of the namespace is not our own uid: change to it
}

// notice is what a lane says before it serves: ready, or what went wrong.
type notice struct {
	Ready bool   `json:"ready"`
	Error string `json:"error"`
}

// MaybeRunStub turns the process into a lane or a janitor if that is what it
// was started for, and returns otherwise. It must be the first thing main does, and the
// first thing TestMain does in tests that start lanes.
func MaybeRunStub() {
	switch {
	case len(os.Args) == 0:
		return
	case os.Args[0] == janitorName:
		if runJanitor() != nil {
			os.Exit(1)
		}
		os.Exit(0)
	case os.Args[0] != stubName:
		return
	}
	// Credentials, capabilities and the filter belong to a thread; exec keeps
	// those of the thread that calls it.
	runtime.LockOSThread()
	err := becomeLane()
	msg, _ := json.Marshal(notice{Error: err.Error()}) // plain strings always marshal
	_ = unix.Sendto(controlFD, msg, unix.MSG_NOSIGNAL, nil)
	os.Exit(1)
}

// becomeLane builds the jail around this process and execs the interpreter. It
// returns only on failure.
func becomeLane() error {
	buf := make([]byte, 1<<17)
	n, _, err := unix.Recvfrom(controlFD, buf, 0)
	if err != nil {
		return fmt.Errorf("receive layout: %w", err)
	}
	var l layout
	if err := json.Unmarshal(buf[:n], &l); err != nil {
		return fmt.Errorf("read layout: %w", err)
	}
	if l.Namespaces {
		err = buildRoot(&l)
	} else {
		// Without a PID namespace orphans would pass to the host's init.
		err = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	}
	if err != nil {
		return err
	}
	if err := setProcess(&l); err != nil {
		return err
	}
	if l.Confine != "" {
		if err := confine(l.Binds, l.Confine); err != nil {
			return err
		}
	}
	filter, err := seccomp.Filter(seccomp.Allowed{LocalSockets: l.Namespaces, MemoryFiles: l.Counted})
	if err != nil {
		return err
	}
	if err := seccomp.Install(filter); err != nil {
		return err
	}
	return fmt.Errorf("exec %s: %w", l.Argv[0], unix.Exec(l.Argv[0], l.Argv, l.Env))
}

// stackSize is the main thread's stack. It must be set before exec, which lays
// out memory around it; 50,000 nested calls through C code need some 100 MiB.
const stackSize = 1 << 30

// setProcess sets what the interpreter and its children inherit.
func setProcess(l *layout) error {
	unix.Umask(0o022)
	if err := lowerLimit(unix.RLIMIT_STACK, stackSize); err != nil {
		return err
	}
	if err := lowerLimit(unix.RLIMIT_CORE, 0); err != nil {
		return err
	}
	// Fixed addresses make runs repeat byte for byte. Some container filters
	// refuse the call; programs then still run, less reproducibly.
	const addrNoRandomize = 0x0040000
	_, _, _ = unix.RawSyscall(unix.SYS_PERSONALITY, addrNoRandomize, 0, 0)
	if l.DropRoot {
		if err := becomeInnerRoot(); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	// A change of uid clears this, so it comes last.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("set parent death signal: %w", err)
	}
	return nil
}

// lowerLimit sets a soft resource limit, or the hard limit if that is lower.
func lowerLimit(resource int, soft uint64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(resource, &limit); err != nil {
		return fmt.Errorf("read resource limit %d: %w", resource, err)
	}
	limit.Cur = min(soft, limit.Max)
	if err := unix.Setrlimit(resource, &limit); err != nil {
		return fmt.Errorf("set resource limit %d: %w", resource, err)
	}
	return nil
}

// laneCaps are what PID 1 of a lane needs to look after its children: change
// their ids, kill them, and remove their files.
var laneCaps = [...]uintptr{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER,
	unix.CAP_KILL, unix.CAP_SETUID, unix.CAP_SETGID,
}

// becomeInnerRoot changes from the host's root to uid 0 of the namespace, a
// host uid that owns nothing, and gives up all other capabilities for good.
func becomeInnerRoot() error {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if keepsCap(c) {
			continue
		}
		// EINVAL: a capability this kernel does not know.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && err != unix.EINVAL {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	// Raw calls: only this thread execs, and it alone must change.
	if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); e != 0 {
		return fmt.Errorf("drop groups: %w", e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, 0, 0, 0); e != 0 {
		return fmt.Errorf("change gid: %w", e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, 0, 0, 0); e != 0 {
		return fmt.Errorf("change uid: %w", e)
	}
	return clearInheritable()
}

// clearInheritable drops the set that carried the stub's capabilities over its
// own exec; a change of uid leaves it alone, so jobs would keep it.
func clearInheritable() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	data[0].Inheritable, data[1].Inheritable = 0, 0
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("clear inheritable capabilities: %w", err)
	}
	return nil
}

func keepsCap(c uintptr) bool {
	for _, kept := range laneCaps {
		if c == kept {
			return true
		}
	}
	return false
}
