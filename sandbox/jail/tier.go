package jail

import (
	"fmt"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// Tier says which means of isolation a lane is built with.
type Tier int

// The tiers, strongest first; docs/sandbox.md describes them.
const (
	T0     Tier = iota // namespaces, unique uids, version 2 control groups
	T1                 // the same with version 1 control groups
	T2Root             // root without control groups: as T2, with unique uids
	T2                 // an ordinary user: namespaces, one uid, no control groups
	T3                 // root of a container that allows no namespaces: Landlock, unique uids
	Unsafe             // rlimits and the system-call filter only
)

// String is the tier's name in reports.
func (t Tier) String() string {
	return [...]string{"T0", "T1", "T2", "T2", "T3", "unsafe"}[t]
}

// privileged says whether lanes may use a range of uids of their own.
func (t Tier) privileged() bool { return t == T0 || t == T1 || t == T2Root }

// namespaced says whether lanes have namespaces and a root of their own.
func (t Tier) namespaced() bool { return t <= T2 }

// grouped says whether control groups limit and count.
func (t Tier) grouped() bool { return t == T0 || t == T1 }

// The uids inside a lane. Host root is mapped at hostRoot while the stub builds
// the jail, since only it may look into some of the directories to be shown.
const (
	uidsPerLane = 1 << 16
	firstUID    = 0x40000000 // far above any uid that a host hands out
	uidRanges   = 1 << 13    // then the ranges repeat
	hostRoot    = uidsPerLane - 1
	firstJobUID = 1000
	checkerUID  = 999 // of test code, in every lane
)

// stubCaps are the capabilities that building the jail takes.
var stubCaps = []uintptr{
	unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE,
	unix.CAP_FOWNER, unix.CAP_KILL, unix.CAP_SETUID, unix.CAP_SETGID,
}

// Without namespaces a lane's uids are the host's: one for its jobs, the next for
// test code. Numbers repeat after hostLanes lanes of a pool.
const hostLanes = 64

// hostUID is the first of the two uids of a lane without namespaces.
func hostUID(base, number int) int { return firstUID + (base*hostLanes+number%hostLanes)*2 }

const laneNamespaces = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID |
	syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWCGROUP

// sysProcAttr says how the lane's process is to be cloned.
func (t Tier) sysProcAttr(uidRange int) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	switch {
	case t.privileged():
		base := firstUID + uidRange%uidRanges*uidsPerLane
		ids := []syscall.SysProcIDMap{
			{ContainerID: 0, HostID: base, Size: hostRoot},
			{ContainerID: hostRoot, HostID: 0, Size: 1},
		}
		attr.Cloneflags = laneNamespaces
		attr.UidMappings, attr.GidMappings = ids, ids
		attr.GidMappingsEnableSetgroups = true
		attr.AmbientCaps = stubCaps
	case t == T2:
		attr.Cloneflags = laneNamespaces
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: syscall.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: syscall.Getegid(), Size: 1}}
	}
	return attr
}

// scratchSize is the size of each writable place in a lane.
const scratchSize = 256 << 20

// layout says what the stub is to build. Without namespaces the lane works in
// dir, a directory of the host.
func (t Tier) layout(python *Python, dir string, uid int) layout {
	l := layout{
		Namespaces: t.namespaced(),
		Mount:      python.mountPoint(),
		Binds:      python.binds(),
		Scratch:    scratchSize,
		Lane:       laneSource,
		Argv:       laneArgv(python, lanePath, scratch[:]),
		Env:        append(slices.Clone(laneEnv), bindNow, "HOME=/w", "TMPDIR=/tmp"),
		Counted:    t.grouped(),
		DropRoot:   t.privileged() || t == T3,
	}
	if !t.namespaced() {
		places := hostPlaces(dir)
		l.Argv = laneArgv(python, filepath.Join(dir, "lane.py"), places)
		l.Env = append(slices.Clone(laneEnv), bindNow, "HOME="+places[0], "TMPDIR="+places[1])
	}
	if t == T3 {
		l.Confine = dir
		l.Argv = append(l.Argv, fmt.Sprintf("uids=%d,%d", uid, uid+1))
	}
	return l
}

// laneArgv starts the lane program at path on the given writable places.
func laneArgv(python *Python, path string, places []string) []string {
	return append([]string{python.Path, "-s", "-S", "-B", "-X", "utf8", "-c", loadSource, path}, places...)
}

// bindNow has a lane's interpreter resolve its symbols once. Otherwise each job's
// child would again, at the price of a page for each table touched. lane.py takes
// it out of what programs see.
const bindNow = "LD_BIND_NOW=1"

// laneEnv is the whole environment of judged programs. A fixed hash seed makes
// the order of sets repeat; one thread for BLAS keeps fork safe and CPU time
// meaningful.
var laneEnv = []string{
	"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC",
	"PYTHONHASHSEED=0", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1",
}
