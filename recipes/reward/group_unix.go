//go:build unix

package reward

import (
	"os/exec"
	"syscall"
)

// alone gives a command a process group of its own, so that a Ctrl-C at the
// terminal is not also its, and kills the whole group when its time is over: a
// script's children would go on.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
