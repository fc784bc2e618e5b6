package selftest

import "github.com/coderl/cr/sandbox"

// Rows is the table, in the order in which it is printed.
func Rows() []Row {
	var rows []Row
	for _, group := range [][]Row{limitRows(), endRows(), cheatRows(), escapeRows(), remainsRows()} {
		rows = append(rows, group...)
	}
	return rows
}

// limitRows try to use more than a program may.
func limitRows() []Row {
	const ok, tle, mle, ole = sandbox.OK, sandbox.TimeLimitExceeded, sandbox.MemoryLimitExceeded, sandbox.OutputLimitExceeded
	return []Row{
		{1, "spin", "an endless loop, alone, in a child, swallowing every exception", []Attempt{
			{Name: "spin", Code: "while True: pass\n", Limits: second, Want: tle},
			{Name: "child", Code: py("import subprocess, sys", "subprocess.run([sys.executable, '-c', 'while True: pass'])"), Limits: second, Want: tle},
			{Name: "swallow", Code: py("while True:", "    try:", "        while True: pass", "    except BaseException: pass"), Limits: second, Want: tle},
		}},
		{2, "sleep", "sleeping past the guard, and within it", []Attempt{
			{Name: "long", Code: "import time; time.sleep(100)\n", Limits: second, Want: tle},
			{Name: "short", Code: "import time; time.sleep(1.2)\nprint('up')\n", Limits: second, Want: ok, Stdout: "up\n"},
		}},
		{3, "wait", "pause and select", []Attempt{
			{Name: "pause", Code: "import signal; signal.pause()\n", Limits: second, Want: tle},
			{Name: "select", Code: "import select; select.select([], [], [], 100)\n", Limits: second, Want: tle},
		}},
		{4, "stop", "stopping itself", []Attempt{
			{Name: "SIGSTOP", Code: "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)\n", Limits: second, Want: tle},
		}},
		{5, "signals ignored", "ignoring SIGTERM, SIGXCPU, SIGINT, SIGALRM", []Attempt{
			{Name: "ignore", Code: py("import signal", "for s in (signal.SIGTERM, signal.SIGXCPU, signal.SIGINT, signal.SIGALRM): signal.signal(s, signal.SIG_IGN)", "signal.alarm(0)", "while True: pass"), Limits: second, Want: tle},
		}},
		{6, "fork bomb", "forking without end", []Attempt{
			{Name: "bomb", Code: py("import os", "while True:", "    try: os.fork()", "    except OSError: pass"), Limits: second, Want: tle},
		}},
		{7, "daemon", "children that outlive the program, holding its pipe or not", []Attempt{
			{Name: "setsid", Code: py("import os, time", "if os.fork() == 0:", "    os.setsid()", "    if os.fork() == 0: time.sleep(60)", "    os._exit(0)", "print('parent')"), Want: ok, Stdout: "parent\n"},
			{Name: "pipe", Code: py("import subprocess", "subprocess.Popen(['sleep', '60'])", "print(1)"), Want: ok, Stdout: "1\n"},
		}},
		{8, "thread bomb", "starting threads without end", []Attempt{
			{Name: "bomb", Code: py("import threading, time", "n = 0", "try:", "    while True: threading.Thread(target=time.sleep, args=(9,), daemon=True).start(); n += 1", "except RuntimeError: print(n < 100)"), Want: ok, Stdout: "True\n"},
		}},
		{9, "heap", "more memory than allowed: at once, in steps, in a child, beyond any machine", []Attempt{
			{Name: "at once", Code: "b = bytearray(2 << 30)\n", Limits: small, Want: mle},
			{Name: "in steps", Code: py("a = []", "while True: a.append(bytearray(1 << 20))"), Limits: small, Want: mle},
			{Name: "impossible", Code: "b = bytearray(1 << 50)\n", Limits: small, Want: mle},
			{Name: "child", Code: py("import os", "p = os.fork()", "if p == 0:", "    b = bytearray(1 << 30)", "    os._exit(0)", "raise MemoryError if os.waitpid(p, 0)[1] else SystemExit(0)"), Limits: small, Want: mle},
			{Name: "within", Code: "b = bytearray(100 << 20)\nprint(len(b))\n", Limits: small, Want: ok, Stdout: "104857600\n"},
		}},
		{10, "zero pages", "a large zeroed block, touched", []Attempt{
			{Name: "bss", Code: py("import ctypes", "b = (ctypes.c_char * (1 << 30))()", "ctypes.memset(b, 1, 1 << 30)"), Limits: small, Want: mle},
		}},
		{11, "shared mapping", "a shared anonymous mapping, touched", []Attempt{
			{Name: "mmap", Code: py("import mmap", "m = mmap.mmap(-1, 1 << 30)", "for i in range(0, 1 << 30, 4096): m[i] = 1"), Limits: small, Want: mle},
		}},
		{12, "full disk", "filling /tmp with bytes, and with files", []Attempt{
			{Name: "bytes", Code: py("f = open('/tmp/x', 'wb')", "try:", "    while True: f.write(bytes(1 << 20))", "except OSError: print('full')"), Want: ok, Stdout: "full\n"},
			{Name: "files", Code: py("n = 0", "try:", "    while n < 40000: open('/tmp/%d' % n, 'w').close(); n += 1", "except OSError: print('full')"), Want: ok, Stdout: "full\n"},
		}},
		{13, "streams", "1 GB of output; input never read; input closed", []Attempt{
			{Name: "stdout", Code: py("import sys", "for _ in range(1024): sys.stdout.write('x' * (1 << 20))"), Want: ole},
			{Name: "unread", Code: "print('x')\n", Stdin: string(make([]byte, 4<<20)), Want: ok, Stdout: "x\n"},
			{Name: "closed", Code: "import sys; sys.stdin.close(); print('x')\n", Stdin: "1\n", Want: ok, Stdout: "x\n"},
		}},
		{14, "stderr flood", "64 MB of errors", []Attempt{
			{Name: "flood", Code: py("import sys", "for _ in range(64): sys.stderr.write('e' * (1 << 20))", "print('done')"), Want: ok, Stdout: "done\n", Stderr: "bytes cut"},
		}},
	}
}

// endRows end in ways that are easily reported wrongly.
func endRows() []Row {
	const re = sandbox.RuntimeError
	return []Row{
		{15, "output, then failure", "the right output and exit status 1", []Attempt{
			{Name: "exit", Code: "print(1); raise SystemExit(1)\n", Want: re, Exit: 1, Stdout: "1\n"},
		}},
		{16, "signals", "abort, segmentation fault, killing itself", []Attempt{
			{Name: "abort", Code: "import os; os.abort()\n", Want: re, Exit: 134, Signal: "SIGABRT"},
			{Name: "segfault", Code: "import ctypes; ctypes.string_at(0)\n", Want: re, Exit: 139, Signal: "SIGSEGV"},
			{Name: "kill", Code: "import os; os.kill(os.getpid(), 9)\n", Want: re, Exit: 137, Signal: "SIGKILL"},
			{Name: "terminate", Code: "import os; os.kill(os.getpid(), 15)\n", Want: re, Exit: 143, Signal: "SIGTERM"},
		}},
		{17, "deep recursion", "endless recursion; 40,000 calls where they are allowed", []Attempt{
			{Name: "endless", Code: "def f(): f()\nf()\n", Want: re, Exit: 1, Stderr: "RecursionError"},
			{Name: "deep", Prelude: true, Code: "def f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(40000))\n", Want: sandbox.OK, Stdout: "40000\n"},
		}},
	}
}
