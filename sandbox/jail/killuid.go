package jail

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"
)

// killUID kills every process of a uid that belongs to a lane, at once, so that
// a fork bomb does not outrun it. A thread takes that uid, and with it loses the
// power over all others, and is then thrown away.
func killUID(uid int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if unix.Gettid() == unix.Getpid() {
			// The first thread's uid is the whole process's to others that kill
			// by uid, a lane among them. While it is held here, the next
			// goroutine gets another.
			killUID(uid)
			runtime.UnlockOSThread()
			return
		}
		id := uintptr(uid)
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, id, id, id); e != 0 {
			return
		}
		// Were any power left, the next call would end the whole host.
		if err := unix.Kill(1, 0); !errors.Is(err, unix.EPERM) {
			return
		}
		_ = unix.Kill(-1, unix.SIGKILL) // an error means that there are none
	}()
	<-done
}
