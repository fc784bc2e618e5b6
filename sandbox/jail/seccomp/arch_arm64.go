package seccomp

import "golang.org/x/sys/unix"

const (
	auditArch  = unix.AUDIT_ARCH_AARCH64
	foreignABI = 0 // 32-bit calls arrive under another audit architecture
)

// archRules are calls that exist only on this architecture.
func archRules() []rule {
	return []rule{{nr: unix.SYS_KEXEC_FILE_LOAD, errno: unix.EPERM}}
}
