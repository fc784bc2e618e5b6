package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coderl/cr/sandbox"
)

// fidelity programs must behave in a warm lane as they do in a new
// interpreter, which is the oracle: the same bytes on both streams and the same
// exit status.
var fidelity = []struct {
	name, code, stdin string
	args              []string
}{
	{"input then read", "import sys\nn = int(input())\nprint(n, sys.stdin.read().split())\n", "2\n3 4\n5 6\n", nil},
	{"byte lines", "import sys\nb = sys.stdin.buffer\nprint(b.readline(), b.readlines())\n", "2\n3 4\n5 6\n", nil},
	{"open 0", "print(open(0).read().split())\n", "2\n3 4\n", nil},
	{"/dev/stdin", "print(open('/dev/stdin').read().split())\n", "2\n3 4\n", nil},
	{"/dev/stdout", "open('/dev/stdout', 'w').write('x')\n", "", nil},
	{"bytes after input", "import sys\nprint(input(), sys.stdin.buffer.read())\n", "1\n2\n", nil},
	{"print and raw writes", "import sys\nprint('a')\nsys.stdout.buffer.write(b'b')\n", "", nil},
	{"os.read", "import os\nprint(os.read(0, 100))\n", "1\n2\n", nil},
	{"carriage returns", "print(repr(input()), repr(input()))\n", "a\r\nb\r\n", nil},
	{"no text", "import sys\nprint(ascii(sys.stdin.read()))\n", "\xff\xfe\n", nil},
	{"end of input", "import sys\nfor line in sys.stdin: print(line.strip())\ninput()\n", "1\n2", nil},
	{"arguments", "import sys\nprint(sys.argv[1:], len(sys.argv))\n", "", []string{"a", "b c"}},
	{"names", "print(__name__, __doc__, __spec__, __package__, __builtins__)\nimport sys\nprint(sys.modules['__main__'].__dict__ is globals(), sorted(globals()))\n", "", nil},
	{"docstring", "'''doc'''\nprint(__doc__)\nx: int = 3\nprint(__annotations__)\n", "", nil},
	{"main guard", "def main(): print('in main')\nif __name__ == '__main__': main()\n", "", nil},
	{"future import", "from __future__ import annotations\nclass A:\n    x: B\nprint(A.__annotations__)\n", "", nil},
	{"traceback", "def f(x):\n    return g(x)\ndef g(x):\n    return 1 / x\nprint('before')\nf(0)\n", "", nil},
	{"chained traceback", "try:\n    {}['k']\nexcept KeyError as e:\n    raise ValueError('v') from e\n", "", nil},
	{"context traceback", "try:\n    {}['k']\nexcept KeyError:\n    int('x')\n", "", nil},
	{"syntax error", "print('never')\nx = = 1\n", "", nil},
	{"indentation error", "if 1:\nprint(1)\n", "", nil},
	{"exit with text", "import sys\nsys.exit('bye')\n", "", nil},
	{"exit with a large number", "import sys\nsys.exit(256 + 7)\n", "", nil},
	{"exit with None", "exit()\n", "", nil},
	{"assert", "assert 1 == 2, 'no'\n", "", nil},
	{"recursion limit", "import sys\nprint(sys.getrecursionlimit())\ndef f(): return f()\ntry: f()\nexcept RecursionError as e: print(e)\n", "", nil},
	{"digits limit", "print(len(str(10**5000)))\n", "", nil},
	{"atexit", "import atexit\natexit.register(print, 'last')\nprint('first')\n", "", nil},
	{"finalize", "import weakref\nclass A: pass\na = A()\nweakref.finalize(a, print, 'finalized')\nprint('first')\n", "", nil},
	{"logging", "import logging, logging.handlers, sys\nh = logging.handlers.MemoryHandler(9, target=logging.StreamHandler(sys.stdout))\nlogging.getLogger().addHandler(h)\nlogging.warning('kept until the end')\n", "", nil},
	{"a pool of threads", "from concurrent.futures import ThreadPoolExecutor\nimport time\nThreadPoolExecutor(2).submit(lambda: (time.sleep(0.05), print('done')))\nprint('main')\n", "", nil},
	{"a stream left unflushed", "out = open(1, 'w', closefd=False)\nout.write('left')\n", "", nil},
	{"random in a fork", "import os, random\nr, w = os.pipe()\nif os.fork() == 0:\n    os.write(w, repr(random.random()).encode())\n    os._exit(0)\nos.wait()\nprint(float(os.read(r, 99)) != random.random())\n", "", nil},
	{"threads are joined", "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.05), print('thread'))).start()\nprint('main')\n", "", nil},
	{"the main thread is this one", "import threading\nm = threading.main_thread()\nprint(m is threading.current_thread(), m.native_id == threading.get_native_id(), threading.active_count())\n", "", nil},
	{"threads in a fork", "import os, threading\nif os.fork() == 0:\n    t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()\n    print(threading.main_thread().native_id == threading.get_native_id(), flush=True)\n    os._exit(0)\nos.wait()\n", "", nil},
	{"thread dies", "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='T')\nt.start(); t.join(); print('on')\n", "", nil},
	{"hash of text", "print(hash('a'), list({'x', 'y', 'z', 'w'}))\n", "", nil},
	{"seeded random", "import random\nrandom.seed(5); print(random.random())\n", "", nil},
	{"cookie", "# -*- coding: latin-1 -*-\nprint(ascii('\xe9'))\n", "", nil},
	{"byte order mark", "\xef\xbb\xbfprint('bom')\n", "", nil},
	{"pickle and dataclass", "import pickle, dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int\nprint(pickle.loads(pickle.dumps(A(3))))\n", "", nil},
	{"inspect own source", "import inspect\ndef f(): return 1\nprint(inspect.getsource(f))\n", "", nil},
	{"stdout properties", "import sys\nfor s in (sys.stdin, sys.stdout, sys.stderr): print(s.name, s.mode, s.encoding, s.errors, s.line_buffering, s.isatty(), s.fileno())\n", "", nil},
	{"alarm", "import signal\nsignal.signal(signal.SIGALRM, lambda *a: print('rang'))\nsignal.setitimer(signal.ITIMER_REAL, 0.02)\nsignal.pause()\n", "", nil},
	{"keyboard interrupt", "raise KeyboardInterrupt\n", "", nil},
	{"warning", "import warnings\nwarnings.warn('careful')\nassert (1, 'x')\n", "", nil},
	{"gc is on", "import gc\nprint(gc.isenabled(), gc.get_threshold())\n", "", nil},
	{"excepthook", "import sys\nsys.excepthook = lambda *a: print('hook', a[1])\n1 / 0\n", "", nil},
	{"closed stdout", "import sys\nprint('x')\nsys.stdout.close()\n", "", nil},
	{"unraisable", "class A:\n    def __del__(self): 1 / 0\nimport sys\nsys.unraisablehook = lambda u: print(u.exc_value)\na = A()\ndel a\nprint('on')\n", "", nil},
}

func TestWarmEqualsCold(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 2})
	dir := t.TempDir()
	for _, row := range fidelity {
		t.Run(row.name, func(t *testing.T) {
			warm := run(t, l, sandbox.Job{Code: row.code, Stdin: []byte(row.stdin), Args: row.args})
			cold := coldRun(t, dir, row.code, row.stdin, row.args)
			if string(warm.Stdout) != cold.stdout {
				t.Errorf("stdout\n%q\nwant\n%q", warm.Stdout, cold.stdout)
			}
			if string(warm.Stderr) != cold.stderr {
				t.Errorf("stderr\n%s\nwant\n%s", warm.Stderr, cold.stderr)
			}
			if warm.ExitCode != cold.exit {
				t.Errorf("exit %d, want %d", warm.ExitCode, cold.exit)
			}
		})
	}
}

type coldResult struct {
	stdout, stderr string
	exit           int
}

// coldRun runs a program as a user would, with the paths in its messages made
// those of the jail.
func coldRun(t *testing.T, dir, code, stdin string, args []string) coldResult {
	t.Helper()
	path := dir + "/main.py"
	writeFile(t, path, code)
	cmd := exec.Command("python3", append([]string{"-B", "-X", "utf8", path}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "PYTHONHASHSEED=0", "TZ=UTC"}
	in := dir + "/stdin"
	writeFile(t, in, stdin)
	var out, errs strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = openFile(t, in), &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	exit := cmd.ProcessState.ExitCode()
	if exit < 0 {
		exit = 128 + signalOf(cmd.ProcessState)
	}
	return coldResult{out.String(), strings.ReplaceAll(errs.String(), dir, "/w"), exit}
}

// TestPrelude fixes which names LiveCodeBench's imports leave; the expectations
// were computed with its import string in a new interpreter.
func TestPrelude(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 1})
	rows := []struct{ name, code, stdin, want string }{
		{
			"later names win", "print(sub is operator.sub, pow is builtins_pow, type(datetime), type(copy), type(bisect))",
			"", "True True <class 'module'> <class 'module'> <class 'module'>\n",
		},
		{
			"common names", "print(deque([1]), inf, heappush.__name__, lru_cache.__name__, permutations.__name__, List[int], Counter('aa'), gcd(4, 6))",
			"", "deque([1]) inf heappush lru_cache permutations typing.List[int] Counter({'a': 2}) 2\n",
		},
		{"streams of the job", "print(stdin.readline(), end='', file=stdout)", "7\n", "7\n"},
		{"limits", "import sys\nprint(sys.getrecursionlimit(), len(str(10**49_998)))", "", "50000 49999\n"},
		{"deep recursion", "def f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(40000))", "", "40000\n"},
		{"deep recursion through C", "@lru_cache(None)\ndef f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(20000))", "", "20000\n"},
		{"future import and line numbers", "from __future__ import annotations\nimport sys\nprint(sys._getframe().f_lineno)", "", "3\n"},
		{"open is the builtin", "import io\nprint(open is io.open, compile.__module__, id('a') == id('a'))", "", "True builtins True\n"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if strings.Contains(row.name, "through C") && cRecursionIsLimited(l) {
				t.Skip("this Python limits calls through C whatever the recursion limit")
			}
			code := strings.ReplaceAll(row.code, "builtins_pow", "__import__('builtins').pow") + "\n"
			r := run(t, l, sandbox.Job{Code: code, Stdin: []byte(row.stdin), Prelude: true})
			if string(r.Stdout) != row.want {
				t.Errorf("%s %q, want %q\n%s", r.Status, r.Stdout, row.want, r.Stderr)
			}
		})
	}
}

// cRecursionIsLimited says whether the interpreter is 3.12 or later.
func cRecursionIsLimited(l *sandbox.Local) bool {
	var major, minor int
	if _, err := fmt.Sscanf(l.Isolation().Interpreter, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major == 3 && minor >= 12
}

// TestInterpreterBelowTmp uses an interpreter that lies where the jail has a
// writable place of its own.
func TestInterpreterBelowTmp(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("python3", "-m", "venv", "--without-pip", dir+"/venv").CombinedOutput(); err != nil {
		t.Skipf("cannot make a virtual environment: %v %s", err, out)
	}
	l := open(t, sandbox.LocalOptions{Workers: 1, Python: dir + "/venv/bin/python"})
	for range 3 {
		r := run(t, l, sandbox.Job{Code: "import os, sys\nprint(sys.prefix != sys.base_prefix, os.path.exists('/tmp/x'))\nopen('/tmp/x', 'w')\n"})
		if string(r.Stdout) != "True False\n" {
			t.Errorf("%q %s", r.Stdout, r.Stderr)
		}
	}
	// Test code finds what is installed there, and nothing else below /tmp.
	places, err := filepath.Glob(dir + "/venv/lib/python*/site-packages")
	if err != nil || len(places) != 1 {
		t.Fatal(places, err)
	}
	writeFile(t, places[0]+"/installed.py", "x = 1\n")
	r := run(t, l, sandbox.Job{Code: "def f(): return 1\n", Check: &sandbox.Check{
		Tests: "import installed, sys\nassert f() == installed.x\nassert '/tmp' not in sys.path\n",
	}})
	if r.Check == nil || !r.Check.Passed {
		t.Errorf("%s %v\n%s", r.Status, r.Check, r.Stderr)
	}
}

// TestPreludeFlushes looks at streams that a program leaves unflushed under names
// of the prelude, which are not all looked through.
func TestPreludeFlushes(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 1})
	code := "def f():\n    global stdout\n    stdout = open(1, 'w', closefd=False)\n    stdout.write('a')\nf()\n" +
		"time = open(1, 'w', closefd=False)\ntime.write('b')\nnew = open(1, 'w', closefd=False)\nnew.write('c')\n"
	r := run(t, l, sandbox.Job{Code: code, Prelude: true})
	for _, left := range []string{"a", "b", "c"} {
		if strings.Count(string(r.Stdout), left) != 1 {
			t.Errorf("stdout %q lacks %s", r.Stdout, left)
		}
	}
}

// TestRandomDiffers runs unseeded programs in one lane.
func TestRandomDiffers(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 1})
	seen := map[string]bool{}
	for range 4 {
		seen[string(run(t, l, sandbox.Job{Code: "import random\nprint(random.random())\n"}).Stdout)] = true
	}
	if len(seen) != 4 {
		t.Errorf("unseeded random repeats: %v", seen)
	}
}
