package seccomp

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	// foreignABI is the bit of the x32 calls, a second table with its own holes.
	foreignABI = 0x40000000
)

// archRules are calls that exist only on this architecture.
func archRules() []rule {
	var rules []rule
	for _, nr := range []uint32{
		unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB,
		unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS_CREATE_MODULE, unix.SYS_KEXEC_FILE_LOAD,
		unix.SYS_INOTIFY_INIT,
	} {
		rules = append(rules, rule{nr: nr, errno: unix.EPERM})
	}
	return rules
}
