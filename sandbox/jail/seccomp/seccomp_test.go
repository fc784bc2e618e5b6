package seccomp

import (
	"testing"

	"golang.org/x/sys/unix"
)

// run interprets a filter for one call, as the kernel does; the opcodes'
// meaning is that of the classic BPF manual.
func run(t *testing.T, filter []unix.SockFilter, arch, nr uint32, args [6]uint64) uint32 {
	t.Helper()
	data := map[uint32]uint32{offNr: nr, offArch: arch}
	for i, a := range args {
		data[argOffset(uint32(i))] = uint32(a)
	}
	var acc uint32
	for pc := 0; pc < len(filter); pc++ {
		in := filter[pc]
		taken := false
		switch in.Code {
		case opLoad:
			acc = data[in.K]
			continue
		case opRet:
			return in.K
		case opEqual:
			taken = acc == in.K
		case opSet:
			taken = acc&in.K != 0
		case opAtop:
			taken = acc >= in.K
		default:
			t.Fatalf("instruction %d has opcode %#x", pc, in.Code)
		}
		if taken {
			pc += int(in.Jt)
		} else {
			pc += int(in.Jf)
		}
	}
	t.Fatal("the filter ends without a return")
	return 0
}

func TestFilterDecides(t *testing.T) {
	filter, err := Filter(Allowed{LocalSockets: true, MemoryFiles: true})
	if err != nil {
		t.Skip(err)
	}
	denied, missing := errno(unix.EPERM), errno(unix.ENOSYS)
	rows := []struct {
		name string
		nr   uint32
		args [6]uint64
		want uint32
	}{
		{"read", unix.SYS_READ, [6]uint64{}, retAllow},
		{"execve", unix.SYS_EXECVE, [6]uint64{}, retAllow},
		{"the call after the last rule", 0xffff, [6]uint64{}, retAllow},
		{"mount", unix.SYS_MOUNT, [6]uint64{}, denied},
		{"flock", unix.SYS_FLOCK, [6]uint64{}, denied},
		{"clone of a thread", unix.SYS_CLONE, [6]uint64{0x3d0f00}, retAllow},
		{"clone of a user namespace", unix.SYS_CLONE, [6]uint64{unix.CLONE_NEWUSER | 17}, denied},
		{"clone3", unix.SYS_CLONE3, [6]uint64{}, missing},
		{"unix socket", unix.SYS_SOCKET, [6]uint64{unix.AF_UNIX}, retAllow},
		{"internet socket", unix.SYS_SOCKET, [6]uint64{unix.AF_INET}, denied},
		{"vsock", unix.SYS_SOCKET, [6]uint64{unix.AF_VSOCK}, denied},
		{"socket with a high half", unix.SYS_SOCKET, [6]uint64{1<<32 | unix.AF_INET}, denied},
		{"fcntl F_GETFL", unix.SYS_FCNTL, [6]uint64{0, unix.F_GETFL}, retAllow},
		{"fcntl F_SETLK", unix.SYS_FCNTL, [6]uint64{0, unix.F_SETLK}, denied},
		{"fcntl F_NOTIFY", unix.SYS_FCNTL, [6]uint64{0, unix.F_NOTIFY}, denied},
		{"inotify_init1", unix.SYS_INOTIFY_INIT1, [6]uint64{}, denied},
		{"setxattr", unix.SYS_SETXATTR, [6]uint64{}, errno(unix.ENOTSUP)},
		{"prlimit of oneself", unix.SYS_PRLIMIT64, [6]uint64{}, retAllow},
		{"prlimit of PID 1", unix.SYS_PRLIMIT64, [6]uint64{1}, denied},
		{"setpriority of oneself", unix.SYS_SETPRIORITY, [6]uint64{unix.PRIO_PROCESS, 0, 5}, retAllow},
		{"setpriority of PID 1", unix.SYS_SETPRIORITY, [6]uint64{unix.PRIO_PROCESS, 1, 5}, denied},
		{"setpriority of a uid", unix.SYS_SETPRIORITY, [6]uint64{unix.PRIO_USER, 0, 5}, denied},
		{"memfd_create", unix.SYS_MEMFD_CREATE, [6]uint64{}, retAllow},
		{"ioctl TIOCGWINSZ", unix.SYS_IOCTL, [6]uint64{0, unix.TIOCGWINSZ}, retAllow},
		{"ioctl TIOCSTI", unix.SYS_IOCTL, [6]uint64{0, unix.TIOCSTI}, denied},
	}
	for _, row := range rows {
		if got := run(t, filter, auditArch, row.nr, row.args); got != row.want {
			t.Errorf("%s: %#x, want %#x", row.name, got, row.want)
		}
	}
	if got := run(t, filter, auditArch+1, unix.SYS_READ, [6]uint64{}); got != retKill {
		t.Errorf("a foreign architecture: %#x, want kill", got)
	}
	if foreignABI != 0 {
		if got := run(t, filter, auditArch, foreignABI|1, [6]uint64{}); got != missing {
			t.Errorf("a foreign table: %#x, want %#x", got, missing)
		}
	}
	for nr := range uint32(500) {
		run(t, filter, auditArch, nr, [6]uint64{}) // must end, whatever the call
	}
}
