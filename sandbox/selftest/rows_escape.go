package selftest

import "github.com/coderl/cr/sandbox"

// escapeRows try to reach what is outside.
func escapeRows() []Row {
	const ok = sandbox.OK
	return []Row{
		{21, "/proc", "PID 1's environment and memory, other processes, descriptors of the lane", []Attempt{
			attempt("environ", "open('/proc/1/environ').read()"),
			attempt("memory", "open('/proc/1/mem', 'rb')"),
			{Name: "processes", Code: py("import os", "print(sorted(int(p) for p in os.listdir('/proc') if p.isdigit() and os.access('/proc/%s/fd' % p, os.R_OK) and int(p) != os.getpid()) if os.path.exists('/proc/self') else [])"), Want: ok, Stdout: "[]\n"},
			{Name: "descriptors", Code: py("import os", "print([f for f in range(3, 300) if os.path.exists('/dev/fd/%d' % f) and 'socket' in os.readlink('/dev/fd/%d' % f)])"), Want: ok, Stdout: "[]\n"},
			{Name: "environment", Code: "import os; print(sorted(k for k in os.environ if k.startswith(('CR_', 'GO', 'SSH', 'AWS'))))\n", Want: ok, Stdout: "[]\n"},
		}},
		{22, "other memory", "ptrace, process_vm_readv, killing PID 1", []Attempt{
			attempt("ptrace", "sys_('ptrace', 16, 1, 0, 0)"),
			attempt("process_vm_readv", "sys_('vm_readv', 1, None, 0, None, 0, 0)"),
			attempt("kill", "os.kill(os.getppid(), 9)"),
		}},
		{23, "symbolic link", "an output file that points at /etc/passwd", []Attempt{
			{Name: "link", Code: "import os; os.symlink('/etc/passwd', 'out.txt')\n", Fetch: []string{"out.txt"}, Want: ok},
			{Name: "fifo", Code: "import os; os.mkfifo('out.txt')\n", Fetch: []string{"out.txt"}, Want: ok},
		}},
		{24, "privileges", "uid 0, capabilities, a new user namespace, a mount", []Attempt{
			attempt("uid", "os.setresuid(0, 0, 0) if os.getuid() else os.setresuid(1, 1, 1)"),
			attempt("namespace", "sys_('unshare', 0x10000000)"),
			attempt("enter", "sys_('setns', 0, 0)"),
			attempt("mount", "sys_('mount', b'x', b'/tmp', b'tmpfs', 0, None)"),
			attempt("setuid file", "os.chown('/w/main.py', 0, 0) if os.getuid() else os.chown('/w/main.py', 1, 1)"),
			{Name: "capabilities", Code: py("print([l.split()[1] for l in open('/proc/self/status') if l.startswith(('CapEff', 'CapPrm', 'CapInh', 'CapAmb')) and int(l.split()[1], 16)])"), Want: ok, Stdout: "[]\n"},
		}},
		{25, "network", "TCP, UDP, netlink, vsock sockets; an abstract socket of the host", []Attempt{
			attempt("TCP", "socket.create_connection(('127.0.0.1', 22), 1)"),
			attempt("UDP", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"),
			attempt("netlink", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)"),
			attempt("vsock", "socket.socket(40, socket.SOCK_STREAM)"),
			attempt("abstract", "s = socket.socket(socket.AF_UNIX); s.connect('\\0/tmp/.X11-unix/X0')"),
		}},
		{26, "kernel objects", "System V IPC, message queues, keyrings, file locks, watches, attributes", []Attempt{
			attempt("shared memory", "sys_('shmget', 1, 4096, 0o1666)"),
			attempt("semaphores", "sys_('semget', 1, 1, 0o1666)"),
			attempt("queue", "sys_('msgget', 1, 0o1666)"),
			attempt("POSIX queue", "sys_('mq_open', b'q', 66, 0o666, None)"),
			attempt("keyring", "sys_('add_key', b'user', b'k', b'v', 1, -2)"),
			attempt("lock", "fcntl.flock(f, fcntl.LOCK_SH)", "f = open('/usr/bin/env', 'rb')"),
			attempt("watch", "sys_('inotify_init1', 0)"),
			attempt("attribute", "os.setxattr('.', 'user.left', b'x')"),
			attempt("record lock", "fcntl.lockf(f, fcntl.LOCK_SH)", "f = open('/usr/bin/env', 'rb')"),
		}},
	}
}

// remainsRows look for what others left, and at the kernel's odder doors.
func remainsRows() []Row {
	const ok = sandbox.OK
	return []Row{
		// A worker has two lanes in turn, so the second look is into the first's lane.
		{27, "leftovers", "files in /dev/shm, /tmp and the working directory, seen by the next program", []Attempt{
			{Name: "leave", Code: py("import os", "for d in ('/dev/shm', '/tmp', '.'):", "    if os.access(d, os.W_OK): open(d + '/left', 'w').write('x')"), Want: ok},
			{Name: "look", Code: py("import os", "print([d for d in ('/dev/shm', '/tmp', '.') if os.path.exists(d + '/left')])"), Want: ok, Stdout: "[]\n"},
			{Name: "look again", Code: py("import os", "print([d for d in ('/dev/shm', '/tmp', '.') if os.path.exists(d + '/left')])"), Want: ok, Stdout: "[]\n"},
		}},
		{28, "kernel surface", "io_uring, bpf, perf, userfaultfd, x32 calls", []Attempt{
			attempt("io_uring", "sys_('io_uring', 8, ctypes.create_string_buffer(256))"),
			attempt("bpf", "sys_('bpf', 0, None, 0)"),
			attempt("perf", "sys_('perf', ctypes.create_string_buffer(128), 0, -1, -1, 0)"),
			attempt("userfaultfd", "sys_('userfaultfd', 0)"),
			attempt("x32", "sys_('x32')", "nr['x32'] = 0x40000000 + 39"),
		}},
		{29, "read-only places", "writing to /usr, / and /proc/sys; reading /etc/shadow", []Attempt{
			attempt("/usr", "open('/usr/x', 'w')"),
			attempt("/", "open('/x', 'w')"),
			attempt("/proc/sys", "open('/proc/sys/kernel/hostname', 'w')"),
			attempt("/etc/shadow", "open('/etc/shadow')"),
		}},
		{30, "clock, limits, priority", "setting the clock, raising a limit, a better priority", []Attempt{
			attempt("clock", "sys_('clock_settime', 0, ctypes.create_string_buffer(16))"),
			attempt("limit", "resource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999))"),
			attempt("priority", "os.nice(-5)"),
		}},
		{31, "numpy", "importing it under limits, with one thread", []Attempt{
			{Name: "import", Code: py("try: import numpy", "except ImportError: print('absent')", "else:", "    import os", "    a = numpy.ones((300, 300)); a @ a",
				"    print(len(os.listdir('/proc/self/task')) if os.path.exists('/proc/self') else 1)"), Want: ok, Stdout: "1\n", Or: "absent\n"},
		}},
		{32, "odd bytes", "output with zero bytes, no UTF-8, CR LF", []Attempt{
			{Name: "bytes", Code: "import sys; sys.stdout.buffer.write(bytes([0, 255, 13, 10]))\n", Want: ok, Stdout: "\x00\xff\r\n"},
		}},
	}
}
