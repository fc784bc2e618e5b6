package seccomp

import "golang.org/x/sys/unix"

// namespaceFlags are the CLONE_NEW* bits; a new user namespace would hand out
// capabilities again.
const namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID |
	unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// refused are the calls that fail with EPERM whatever their arguments.
var refused = [...]uint32{
	// Other processes' memory and descriptors.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
	unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
	// Mounts, roots and namespaces.
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSCONFIG,
	unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_UNSHARE,
	unix.SYS_SETNS, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_FANOTIFY_INIT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	// Kernel surface with a record of holes.
	unix.SYS_BPF, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER,
	unix.SYS_IO_URING_REGISTER, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE,
	unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT, unix.SYS_SWAPON,
	unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_PERSONALITY,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SETTIMEOFDAY,
	unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_VHANGUP,
	unix.SYS_MEMFD_SECRET,
	// Keyrings, System V IPC, message queues and locks outlive a job or reach
	// another lane through a shared inode.
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SHMDT,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMCTL, unix.SYS_SEMTIMEDOP,
	unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK, unix.SYS_FLOCK,
	// Watches on a shared inode tell what other lanes open. Contexts for
	// asynchronous I/O come out of one small purse of the whole host.
	unix.SYS_INOTIFY_INIT1, unix.SYS_IO_SETUP,
}

// sysSetxattrat is setxattrat(2) of Linux 6.13, absent from x/sys/unix; it has
// the same number everywhere.
const sysSetxattrat = 463

// attributes set extended attributes, which on a writable place itself would
// outlive the wiping of what lies in it, and without a root of the lane's own
// could be set on files of the host.
var attributes = [...]uint32{unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, sysSetxattrat}

// firstProcess protects the lane's PID 1, whose uid programs share where there is
// but one. Its limits, priority and processors are those of the jobs to come.
var firstProcess = [...]rule{
	{unix.SYS_PRLIMIT64, unix.EPERM, &argCheck{arg: 0, values: []uint32{1}}},
	{unix.SYS_SCHED_SETAFFINITY, unix.EPERM, &argCheck{arg: 0, values: []uint32{1}}},
	{unix.SYS_SCHED_SETSCHEDULER, unix.EPERM, &argCheck{arg: 0, values: []uint32{1}}},
	{unix.SYS_SCHED_SETPARAM, unix.EPERM, &argCheck{arg: 0, values: []uint32{1}}},
	{unix.SYS_SCHED_SETATTR, unix.EPERM, &argCheck{arg: 0, values: []uint32{1}}},
	{unix.SYS_SETPRIORITY, unix.EPERM, &argCheck{arg: 0, values: []uint32{unix.PRIO_USER}}},
	{unix.SYS_SETPRIORITY, unix.EPERM, &argCheck{arg: 1, values: []uint32{1}}},
	{unix.SYS_IOPRIO_SET, unix.EPERM, &argCheck{arg: 0, values: []uint32{ioprioWhoUser}}},
	{unix.SYS_IOPRIO_SET, unix.EPERM, &argCheck{arg: 1, values: []uint32{1}}},
}

// ioprioWhoUser is IOPRIO_WHO_USER of linux/ioprio.h.
const ioprioWhoUser = 3

// commonRules are the rules of every architecture.
func commonRules(allowed Allowed) []rule {
	rules := make([]rule, 0, len(refused)+len(attributes)+len(firstProcess)+9)
	for _, nr := range refused {
		rules = append(rules, rule{nr: nr, errno: unix.EPERM})
	}
	for _, nr := range attributes {
		rules = append(rules, rule{nr: nr, errno: unix.ENOTSUP})
	}
	rules = append(rules, firstProcess[:]...)
	local := &argCheck{arg: 0, only: []uint32{unix.AF_UNIX}}
	if !allowed.LocalSockets {
		rules = append(rules, rule{nr: unix.SYS_SOCKET, errno: unix.EPERM})
	}
	if !allowed.MemoryFiles {
		rules = append(rules, rule{nr: unix.SYS_MEMFD_CREATE, errno: unix.ENOSYS})
	}
	return append(rules,
		// Flags of clone3 lie in memory, out of a filter's sight. ENOSYS, not
		// EPERM, makes the C library fall back to clone.
		rule{unix.SYS_CLONE3, unix.ENOSYS, nil},
		rule{unix.SYS_CLONE, unix.EPERM, &argCheck{arg: 0, mask: namespaceFlags}},
		rule{unix.SYS_SOCKET, unix.EPERM, local},
		rule{unix.SYS_SOCKETPAIR, unix.EPERM, local},
		rule{unix.SYS_FCNTL, unix.EPERM, &argCheck{arg: 1, values: []uint32{
			unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_SETLK, unix.F_OFD_SETLKW,
			unix.F_SETLEASE, unix.F_NOTIFY,
		}}},
		// Typing into a terminal that cr may run on.
		rule{unix.SYS_IOCTL, unix.EPERM, &argCheck{arg: 1, values: []uint32{unix.TIOCSTI, tioclinux}}},
	)
}

// tioclinux is TIOCLINUX of asm-generic/ioctls.h, absent from x/sys/unix.
const tioclinux = 0x541c
