// Package seccomp builds the system-call filter of the jail.
//
// The filter allows by default and refuses what a judged program never needs
// but an attacker does: the network, new namespaces and mounts, other
// processes' memory, kernel keyrings, and every channel that outlives a process
// (System V IPC, POSIX message queues, file locks). Plain processes and threads
// stay possible, because right programs use them.
package seccomp

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Return values of a filter, from linux/seccomp.h.
const (
	retKill  = 0x80000000 // kill the process
	retErrno = 0x00050000 // low 16 bits: errno
	retAllow = 0x7fff0000
)

// Offsets in struct seccomp_data.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16
)

// Opcodes of classic BPF that the filter needs.
const (
	opLoad  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	opEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	opSet   = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	opAtop  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	opRet   = unix.BPF_RET | unix.BPF_K
)

// rule refuses a call: always, or when an argument matches.
type rule struct {
	nr    uint32
	errno unix.Errno
	check *argCheck
}

// argCheck looks at the low word of one argument.
type argCheck struct {
	arg    uint32
	values []uint32 // refuse these values
	mask   uint32   // or refuse when any of these bits is set
	only   []uint32 // or refuse everything but these values
}

// Allowed are the things that only some jails can allow.
type Allowed struct {
	// LocalSockets are for programs that see no file system but their own: on the
	// host's, others listen.
	LocalSockets bool
	// MemoryFiles are for programs whose memory a control group counts: nothing
	// else sees what such a file holds.
	MemoryFiles bool
}

// Filter returns the jail's filter for this architecture.
func Filter(allowed Allowed) ([]unix.SockFilter, error) {
	if auditArch == 0 {
		return nil, fmt.Errorf("seccomp: no filter for architecture %s", runtime.GOARCH)
	}
	p := []unix.SockFilter{
		stmt(opLoad, offArch),
		jump(opEqual, auditArch, 1, 0),
		stmt(opRet, retKill),
		stmt(opLoad, offNr),
	}
	if foreignABI != 0 {
		p = append(p, jump(opAtop, foreignABI, 0, 1), stmt(opRet, errno(unix.ENOSYS)))
	}
	for _, r := range append(commonRules(allowed), archRules()...) {
		p = append(p, r.assemble()...)
	}
	return append(p, stmt(opRet, retAllow)), nil
}

// Install puts the filter on the calling thread and all that it starts. The
// caller must be locked to its thread and have no_new_privs set.
func Install(filter []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0,
		uintptr(unsafe.Pointer(&prog)))
	if e != 0 {
		return fmt.Errorf("seccomp: install filter of %d instructions: %w", len(filter), e)
	}
	return nil
}

// assemble turns one rule into instructions. Each rule carries its own return,
// so no jump ever nears BPF's 255-instruction reach.
func (r rule) assemble() []unix.SockFilter {
	var body []unix.SockFilter
	deny := stmt(opRet, errno(r.errno))
	switch c := r.check; {
	case c == nil:
		body = []unix.SockFilter{deny}
	case c.mask != 0:
		body = []unix.SockFilter{stmt(opLoad, argOffset(c.arg)), jump(opSet, c.mask, 0, 1), deny}
	case len(c.only) > 0:
		body = append(body, stmt(opLoad, argOffset(c.arg)))
		for i, v := range c.only {
			body = append(body, jump(opEqual, v, uint8(len(c.only)-i), 0))
		}
		body = append(body, deny)
	default:
		body = append(body, stmt(opLoad, argOffset(c.arg)))
		for _, v := range c.values {
			body = append(body, jump(opEqual, v, 0, 1), deny)
		}
	}
	if r.check != nil {
		// The accumulator held an argument: go back to the call number.
		body = append(body, stmt(opLoad, offNr))
	}
	return append([]unix.SockFilter{jump(opEqual, r.nr, 0, uint8(len(body)))}, body...)
}

func stmt(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func jump(code uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: code, K: k, Jt: yes, Jf: no}
}

func errno(e unix.Errno) uint32 { return retErrno | uint32(e) }

// argOffset locates the low 32 bits of an argument.
func argOffset(i uint32) uint32 {
	at := offArgs + 8*i
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 { // big endian
		at += 4
	}
	return at
}
