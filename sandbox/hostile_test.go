package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
)

// hostile is one program that tries to hurt, cheat or confuse, with the one
// right outcome.
type hostile struct {
	name   string
	code   string
	stdin  string
	limits sandbox.Limits
	want   sandbox.Status
	signal string
	exit   int
	stdout string // exact, when set
	stderr string // contained, when set
}

// guarded runs an attempt that must be refused with an OSError, and prints
// "refused" if it is.
func guarded(setup, attempt string) string {
	return py("import os, socket, ctypes, fcntl, resource, signal, sys",
		"libc = ctypes.CDLL(None, use_errno=True)",
		"def sys_(n, *a):",
		"    if libc.syscall(n, *a) < 0: raise OSError(ctypes.get_errno(), 'syscall')",
		setup, "try:", "    "+attempt, "except OSError:", "    print('refused')", "else:", "    print('allowed')")
}

var second = sandbox.Limits{CPU: time.Second}

// small is a memory limit that a test can exceed quickly.
var small = sandbox.Limits{CPU: 5 * time.Second, Memory: 256 << 20}

var timeRows = []hostile{
	{name: "spin", code: "while True: pass\n", limits: second, want: sandbox.TimeLimitExceeded},
	{name: "spin in a child", code: py("import subprocess, sys",
		"subprocess.run([sys.executable, '-c', 'while True: pass'])"), limits: second, want: sandbox.TimeLimitExceeded},
	{name: "sleep", code: "import time; time.sleep(100)\n", limits: second, want: sandbox.TimeLimitExceeded},
	{name: "pause", code: "import signal; signal.pause()\n", limits: second, want: sandbox.TimeLimitExceeded},
	{name: "stop itself", code: "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)\n", limits: second, want: sandbox.TimeLimitExceeded},
	{name: "ignore SIGTERM and SIGXCPU", code: py("import signal",
		"for s in (signal.SIGTERM, signal.SIGXCPU, signal.SIGINT): signal.signal(s, signal.SIG_IGN)",
		"while True: pass"), limits: second, want: sandbox.TimeLimitExceeded},
	{name: "swallow everything", code: py("while True:", "    try:", "        while True: pass",
		"    except BaseException: pass"), limits: second, want: sandbox.TimeLimitExceeded},
	{name: "sleep within the guard", code: "import time; time.sleep(1.2)\nprint('up')\n", limits: second, want: sandbox.OK, stdout: "up\n"},
}

var memoryRows = []hostile{
	{name: "heap", code: "b = bytearray(2 << 30)\n", limits: small, want: sandbox.MemoryLimitExceeded},
	{name: "heap in steps", code: py("a = []", "while True: a.append(bytearray(1 << 20))"), limits: small, want: sandbox.MemoryLimitExceeded},
	{name: "impossible allocation", code: "b = bytearray(1 << 50)\n", limits: small, want: sandbox.MemoryLimitExceeded},
	{name: "shared mapping", code: py("import mmap", "m = mmap.mmap(-1, 1 << 30)",
		"for i in range(0, 1 << 30, 4096): m[i] = 1"), limits: small, want: sandbox.MemoryLimitExceeded},
	{name: "heap in a child", code: py("import os", "if os.fork() == 0:", "    b = bytearray(1 << 30)", "    os._exit(0)",
		"os.wait(); print('fine')"), limits: small, want: sandbox.MemoryLimitExceeded},
	{name: "within the limit", code: "b = bytearray(100 << 20)\nprint(len(b))\n", limits: small, want: sandbox.OK, stdout: "104857600\n"},
	{name: "full disk", code: py("f = open('/tmp/x', 'wb')", "try:", "    while True: f.write(bytes(1 << 20))",
		"except OSError: print('full')"), want: sandbox.OK, stdout: "full\n"},
}

var outputRows = []hostile{
	{name: "1 GB of stdout", code: py("import sys", "for _ in range(1024): sys.stdout.write('x' * (1 << 20))"), want: sandbox.OutputLimitExceeded},
	{name: "just the limit", code: "print('x' * 999)\n", limits: sandbox.Limits{Output: 1000}, want: sandbox.OK},
	{name: "one over the limit", code: "print('x' * 1000)\n", limits: sandbox.Limits{Output: 1000}, want: sandbox.OutputLimitExceeded},
	{
		name: "flood of stderr", code: py("import sys", "for _ in range(64): sys.stderr.write('e' * (1 << 20))", "print('done')"),
		want: sandbox.OK, stdout: "done\n", stderr: "bytes cut",
	},
	{name: "stdin never read", code: "print('x')\n", stdin: strings.Repeat("9", 4<<20), want: sandbox.OK, stdout: "x\n"},
	{name: "closed stdin", code: "import sys; sys.stdin.close(); print('x')\n", stdin: "1\n", want: sandbox.OK, stdout: "x\n"},
	{name: "read past the end", code: "input()\n", want: sandbox.RuntimeError, exit: 1, stderr: "EOFError"},
	{name: "bytes that are no text", code: "import sys; sys.stdout.buffer.write(bytes([0, 255, 13, 10]))\n", want: sandbox.OK, stdout: "\x00\xff\r\n"},
	{name: "closed stdout", code: "import os, sys; print('a', flush=True); os.close(1)\n", want: sandbox.OK, stdout: "a\n"},
}

var deathRows = []hostile{
	{name: "exit 3 after output", code: "print(1); raise SystemExit(3)\n", want: sandbox.RuntimeError, exit: 3, stdout: "1\n"},
	{name: "abort", code: "import os; os.abort()\n", want: sandbox.RuntimeError, exit: 134, signal: "SIGABRT"},
	{name: "segmentation fault", code: "import ctypes; ctypes.string_at(0)\n", want: sandbox.RuntimeError, exit: 139, signal: "SIGSEGV"},
	{name: "kill itself", code: "import os; os.kill(os.getpid(), 9)\n", want: sandbox.RuntimeError, exit: 137, signal: "SIGKILL"},
	{name: "terminate itself", code: "import os; os.kill(os.getpid(), 15)\n", want: sandbox.RuntimeError, exit: 143, signal: "SIGTERM"},
	{name: "kill everything", code: "import os; print('x', flush=True); os.kill(-1, 9)\n", want: sandbox.RuntimeError, exit: 1, stdout: "x\n", stderr: "No such process"},
	{name: "kill PID 1", code: py("import os", "try: os.kill(1, 9)", "except OSError: pass", "print('alive')"), want: sandbox.OK, stdout: "alive\n"},
	{name: "os._exit without output", code: "import os; os._exit(0)\n", want: sandbox.OK, stdout: ""},
	{name: "endless recursion", code: "def f(): f()\nf()\n", want: sandbox.RuntimeError, exit: 1, stderr: "RecursionError"},
	{name: "syntax error", code: "print(1)\ndef f(:\n", want: sandbox.CompileError, exit: 1, stderr: `File "/w/main.py", line 2`},
	{name: "syntax error at run time", code: "eval('1 +')\n", want: sandbox.RuntimeError, exit: 1, stderr: "SyntaxError"},
	{name: "NUL in the source", code: "print(1)\x00\n", want: sandbox.CompileError, exit: 1},
}

var processRows = []hostile{
	{name: "fork bomb", code: py("import os", "while True:", "    try: os.fork()", "    except OSError: pass"), limits: second, want: sandbox.TimeLimitExceeded},
	{name: "thread bomb", code: py("import threading, time", "n = 0", "try:",
		"    while True: threading.Thread(target=time.sleep, args=(9,), daemon=True).start(); n += 1",
		"except RuntimeError: print(n < 100)"), want: sandbox.OK, stdout: "True\n"},
	{name: "daemon outlives its parent", code: py("import os, time", "if os.fork() == 0:", "    os.setsid()",
		"    if os.fork() == 0: time.sleep(60)", "    os._exit(0)", "print('parent')"), want: sandbox.OK, stdout: "parent\n"},
	{name: "child holds the pipe", code: py("import subprocess", "subprocess.Popen(['sleep', '60'])", "print(1)"), want: sandbox.OK, stdout: "1\n"},
	{name: "right use of a subprocess", code: py("import subprocess",
		"print(subprocess.run(['tr', 'a', 'b'], input='aa', text=True, capture_output=True).stdout)"), want: sandbox.OK, stdout: "bb\n"},
	{name: "right use of multiprocessing", code: py("import multiprocessing as m", "def f(x): return x * x",
		"if __name__ == '__main__':", "    with m.Pool(2) as p: print(p.map(f, range(4)))"), want: sandbox.OK, stdout: "[0, 1, 4, 9]\n"},
	{name: "right use of asyncio", code: py("import asyncio", "async def f():", "    await asyncio.sleep(0.01); return 7",
		"print(asyncio.run(f()))"), want: sandbox.OK, stdout: "7\n"},
}

var escapeRows = []hostile{
	{name: "TCP", code: guarded("", "socket.create_connection(('127.0.0.1', 22), 1)"), want: sandbox.OK, stdout: "refused\n"},
	{name: "UDP", code: guarded("", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"), want: sandbox.OK, stdout: "refused\n"},
	{name: "netlink", code: guarded("", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)"), want: sandbox.OK, stdout: "refused\n"},
	{name: "vsock", code: guarded("", "socket.socket(40, socket.SOCK_STREAM)"), want: sandbox.OK, stdout: "refused\n"},
	{name: "uncaught network error", code: "import urllib.request; urllib.request.urlopen('http://127.0.0.1/')\n", want: sandbox.RuntimeError, exit: 1},
	{name: "write to /usr", code: guarded("", "open('/usr/x', 'w')"), want: sandbox.OK, stdout: "refused\n"},
	{name: "write to /", code: guarded("", "open('/x', 'w')"), want: sandbox.OK, stdout: "refused\n"},
	{name: "write to /proc/sys", code: guarded("", "open('/proc/sys/kernel/hostname', 'w')"), want: sandbox.OK, stdout: "refused\n"},
	{name: "read /etc/shadow", code: guarded("", "open('/etc/shadow')"), want: sandbox.OK, stdout: "refused\n"},
	{name: "read PID 1's environment", code: guarded("", "open('/proc/1/environ').read()"), want: sandbox.OK, stdout: "refused\n"},
	{name: "read PID 1's memory", code: guarded("", "open('/proc/1/mem', 'rb')"), want: sandbox.OK, stdout: "refused\n"},
	{name: "other processes are out of sight", code: py("import os",
		"print(sorted(int(p) for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid())))"), want: sandbox.OK, stdout: "[]\n"},
	{name: "setuid 0", code: guarded("", "os.setresuid(0, 0, 0) if os.getuid() else os.setresuid(1, 1, 1)"), want: sandbox.OK, stdout: "refused\n"},
	{
		name: "no capabilities", code: py("print([l.split()[1] for l in open('/proc/self/status') if l.startswith(('CapEff', 'CapPrm', 'CapInh', 'CapAmb'))])"),
		want: sandbox.OK, stdout: "['0000000000000000', '0000000000000000', '0000000000000000', '0000000000000000']\n",
	},
	{name: "mount", code: guarded("", "sys_(165, b'x', b'/tmp', b'tmpfs', 0, None)"), want: sandbox.OK, stdout: "refused\n"},
	{name: "new user namespace", code: guarded("", "sys_(272, 0x10000000)"), want: sandbox.OK, stdout: "refused\n"},
	{name: "ptrace", code: guarded("", "sys_(101, 16, 1, 0, 0)"), want: sandbox.OK, stdout: "refused\n"},
	{name: "io_uring", code: guarded("", "sys_(425, 8, ctypes.create_string_buffer(256))"), want: sandbox.OK, stdout: "refused\n"},
	{name: "bpf", code: guarded("", "sys_(321, 0, None, 0)"), want: sandbox.OK, stdout: "refused\n"},
	{name: "userfaultfd", code: guarded("", "sys_(323, 0)"), want: sandbox.OK, stdout: "refused\n"},
	{name: "keyring", code: guarded("", "sys_(248, b'user', b'k', b'v', 1, -2)"), want: sandbox.OK, stdout: "refused\n"},
	{name: "System V shared memory", code: guarded("", "sys_(29, 1, 4096, 0o1666)"), want: sandbox.OK, stdout: "refused\n"},
	{name: "message queue", code: guarded("", "sys_(240, b'q', 66, 0o666, None)"), want: sandbox.OK, stdout: "refused\n"},
	{name: "lock on a shared file", code: guarded("f = open('/usr/bin/env', 'rb')", "fcntl.flock(f, fcntl.LOCK_SH)"), want: sandbox.OK, stdout: "refused\n"},
	{name: "x32 call", code: guarded("", "sys_(0x40000000 + 39)"), want: sandbox.OK, stdout: "refused\n"},
	{name: "raise a limit", code: py("import resource", "try: resource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999))",
		"except (OSError, ValueError): print('refused')"), want: sandbox.OK, stdout: "refused\n"},
	{name: "descriptors of the lane", code: py("import os",
		"held = [int(f) for f in os.listdir('/proc/self/fd')]",
		"print([os.readlink('/proc/self/fd/%d' % f)[:5] for f in held if f > 3], open('/dev/null').fileno())"), want: sandbox.OK, stdout: "['pipe:'] 3\n"},
	{name: "host name", code: "import os; print(os.uname().nodename)\n", want: sandbox.OK, stdout: "sandbox\n"},
	{name: "clean environment", code: "import os; print(sorted(k for k in os.environ if k.startswith(('CR_', 'GO', 'SSH', 'AWS'))))\n", want: sandbox.OK, stdout: "[]\n"},
}

func TestHostilePrograms(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 2})
	for _, group := range [][]hostile{timeRows, memoryRows, outputRows, deathRows, processRows, escapeRows} {
		for _, row := range group {
			t.Run(row.name, func(t *testing.T) {
				r := run(t, l, sandbox.Job{Code: row.code, Stdin: []byte(row.stdin), Limits: row.limits})
				checkHostile(t, &row, &r)
				after := run(t, l, sandbox.Job{Code: "print('next')\n"})
				if after.Status != sandbox.OK || string(after.Stdout) != "next\n" {
					t.Errorf("the next program suffers: %s %q %q", after.Status, after.Stdout, after.Stderr)
				}
			})
		}
	}
}

func checkHostile(t *testing.T, row *hostile, r *sandbox.Result) {
	t.Helper()
	if r.Status != row.want {
		t.Fatalf("status %s, want %s (exit %d, signal %q, CPU %v, wall %v, memory %d MiB)\nstdout %.300q\nstderr %.600q",
			r.Status, row.want, r.ExitCode, r.Signal, r.CPU, r.Wall, r.Memory>>20, r.Stdout, r.Stderr)
	}
	ended := row.want == sandbox.RuntimeError || row.want == sandbox.CompileError || row.want == sandbox.OK
	if ended && (r.Signal != row.signal || r.ExitCode != row.exit) {
		t.Errorf("ended with exit %d, signal %q; want %d, %q\n%s", r.ExitCode, r.Signal, row.exit, row.signal, r.Stderr)
	}
	if row.stdout != "" && string(r.Stdout) != row.stdout {
		t.Errorf("stdout %.300q, want %q; stderr %.300q", r.Stdout, row.stdout, r.Stderr)
	}
	if !strings.Contains(string(r.Stderr), row.stderr) {
		t.Errorf("stderr %.500q lacks %q", r.Stderr, row.stderr)
	}
}
