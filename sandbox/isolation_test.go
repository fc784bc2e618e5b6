package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
)

// TestNothingIsLeftForTheNextProgram runs pairs in one lane: the first leaves
// something, the second must not find it. One worker has two lanes in turn, so the
// second look is the one into the same lane.
func TestNothingIsLeftForTheNextProgram(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 1})
	rows := []struct{ name, leave, look string }{
		{"file in /tmp", "open('/tmp/x', 'w').write('secret')", "import os; print(os.listdir('/tmp'))"},
		{"file in the working directory", "open('x', 'w').write('secret')", "import os; print([f for f in os.listdir('.') if f != 'main.py'])"},
		{"shared memory", "from multiprocessing import shared_memory as s; m = s.SharedMemory('x', True, 64)", "import os; print(os.listdir('/dev/shm'))"},
		{"deep tree without permissions", "import os\nfor i in range(50): os.mkdir('d'); os.chdir('d')\nos.chmod('.', 0)", "import os; print([f for f in os.listdir('.') if f != 'main.py'])"},
		{"closed directory", "import os; os.chmod('/tmp', 0o700) if os.stat('/tmp').st_uid == os.getuid() else None", "import os; print(os.listdir('/tmp'))"},
		{
			"process", "import subprocess; subprocess.Popen(['sleep', '100'], start_new_session=True)",
			"import os; print([p for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid())])",
		},
		{
			"abstract socket", "import socket, os\ns = socket.socket(socket.AF_UNIX); s.bind('\\0x'); s.listen()\nif os.fork() == 0: import time; time.sleep(100)",
			"import socket\ns = socket.socket(socket.AF_UNIX)\ntry: s.connect('\\0x'); print('found')\nexcept OSError: print([])",
		},
		{
			"module state", "import math, builtins; math.x = 1; builtins.x = 1; import sys; sys.path.append('x')",
			"import math, builtins, sys; print([n for n, o in (('math', math), ('builtins', builtins)) if hasattr(o, 'x')] + [p for p in sys.path if p == 'x'])",
		},
		{"environment", "import os; os.environ['X'] = '1'", "import os; print([k for k in os.environ if k == 'X'])"},
		{"umask and priority", "import os; os.umask(0); os.nice(5)", "import os; print([x for x in (os.umask(0o22) - 0o22, os.nice(0) - os.getpriority(os.PRIO_PROCESS, os.getppid())) if x])"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if r := run(t, l, sandbox.Job{Code: row.leave + "\n"}); r.Status != sandbox.OK {
				t.Fatalf("could not leave it: %s %s", r.Status, r.Stderr)
			}
			for range 2 {
				if r := run(t, l, sandbox.Job{Code: row.look + "\n"}); string(r.Stdout) != "[]\n" {
					t.Errorf("found %q %s", r.Stdout, r.Stderr)
				}
			}
		})
	}
}

// TestManyRunsLeakNothing counts what a process can leak.
func TestManyRunsLeakNothing(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 2})
	mixed := []string{
		"print(1)\n", "1 / 0\n", "import os; os.abort()\n", "def f(:\n",
		"import subprocess; subprocess.Popen(['sleep', '100'])\n", "open('/tmp/x', 'w').write('x' * 100000)\n",
	}
	round := func(n int) {
		var wg sync.WaitGroup
		for w := range 2 {
			wg.Go(func() {
				for i := range n {
					run(t, l, sandbox.Job{Code: mixed[(i+w)%len(mixed)]})
				}
			})
		}
		wg.Wait()
	}
	round(20)
	before := countLeaks(t)
	round(200)
	if after := countLeaks(t); !after.within(before) {
		t.Errorf("before %+v, after %+v", before, after)
	}
	// Lanes that are replaced must not leave anything either.
	for range 5 {
		run(t, l, sandbox.Job{Code: "b = bytearray(1 << 30)\n", Limits: sandbox.Limits{Memory: 64 << 20}})
	}
	settled := func() bool { return countLeaks(t).within(before) }
	for range 200 {
		if settled() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("after burned lanes: before %+v, after %+v", before, countLeaks(t))
}

// leaks are counts of what must not grow.
type leaks struct{ files, children, groups, goroutines int }

// within says that nothing has grown since before.
func (l leaks) within(before leaks) bool {
	return l.files <= before.files && l.children <= before.children &&
		l.groups <= before.groups && l.goroutines <= before.goroutines
}

func countLeaks(t *testing.T) leaks {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	children := 0
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err == nil {
			children += len(strings.Fields(string(data)))
		}
	}
	return leaks{len(files), children, len(groupsOf(t, os.Getpid())), runtime.NumGoroutine()}
}

// groupsOf finds the control groups that a process made, wherever they are.
func groupsOf(t *testing.T, pid int) (found []string) {
	t.Helper()
	pattern := fmt.Sprintf("cr-%d-*", pid)
	for _, depth := range []string{"", "*", "*/*", "*/*/*", "*/*/*/*"} {
		names, err := filepath.Glob(filepath.Join("/sys/fs/cgroup", depth, pattern))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, names...)
	}
	return found
}

func TestCloseRemovesEverything(t *testing.T) {
	before := countLeaks(t)
	l := open(t, sandbox.LocalOptions{Workers: 2})
	run(t, l, sandbox.Job{Code: "print(1)\n"})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if after := countLeaks(t); after.files > before.files || after.children > before.children || after.groups > before.groups {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if _, err := l.Run(context.Background(), sandbox.Job{Language: "python"}); err == nil {
		t.Error("a closed sandbox ran a job")
	}
}

func TestCancel(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 1})
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err := l.Run(ctx, sandbox.Job{Language: "python", Code: "while True: pass\n"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	if r := run(t, l, sandbox.Job{Code: "print(1)\n"}); r.Status != sandbox.OK {
		t.Errorf("after a cancelled job: %s", r.Status)
	}
}

// TestQueueDoesNotCount runs more jobs than there are lanes: the wait for a
// lane is not the job's time.
func TestQueueDoesNotCount(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 1})
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			r := run(t, l, sandbox.Job{
				Code:   "import time; time.sleep(0.4)\n",
				Limits: sandbox.Limits{CPU: time.Second, Wall: time.Second},
			})
			if r.Status != sandbox.OK {
				t.Errorf("status %s after %v", r.Status, r.Wall)
			}
		})
	}
	wg.Wait()
}

func TestParallelLanesAreApart(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 2})
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		wg.Go(func() {
			r := run(t, l, sandbox.Job{Code: py("import os, time, signal",
				"open('/tmp/"+name+"', 'w'); open('/dev/shm/"+name+"', 'w')",
				"time.sleep(0.5)",
				"for pid in range(2, 300):",
				"    try:",
				"        if pid != os.getpid(): os.kill(pid, 9)",
				"    except OSError: pass",
				"print(os.listdir('/tmp'), os.listdir('/dev/shm'), open('/proc/net/unix').read().count('@'))")})
			if want := fmt.Sprintf("['%s'] ['%s'] 0\n", name, name); string(r.Stdout) != want {
				t.Errorf("%s %q, want %q\n%s", r.Status, r.Stdout, want, r.Stderr)
			}
		})
	}
	wg.Wait()
}

func TestRunsRepeatByteForByte(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 2})
	code := py("class A: pass", "x = [A() for _ in range(5)]", "print(x, {A() for _ in range(9)}, set('abcdef'), hash('q'))")
	first := run(t, l, sandbox.Job{Code: code})
	for range 8 {
		if r := run(t, l, sandbox.Job{Code: code}); string(r.Stdout) != string(first.Stdout) {
			t.Fatalf("%s\nthen\n%s", first.Stdout, r.Stdout)
		}
	}
}

func TestFilesAndLanguages(t *testing.T) {
	l := open(t, sandbox.LocalOptions{Workers: 1})
	r := run(t, l, sandbox.Job{
		Code:  "import helper\nprint(helper.x, open('d.bin', 'rb').read())\n",
		Files: map[string][]byte{"helper.py": []byte("x = 5\n"), "d.bin": {0, 255}},
	})
	if string(r.Stdout) != "5 b'\\x00\\xff'\n" {
		t.Errorf("%q %s", r.Stdout, r.Stderr)
	}
	for _, name := range []string{"../x", "/etc/x", "..", "main.py", "a/../b", ""} {
		_, err := l.Run(context.Background(), sandbox.Job{Language: "python", Files: map[string][]byte{name: nil}})
		if err == nil {
			t.Errorf("file name %q was accepted", name)
		}
	}
	_, err := l.Run(context.Background(), sandbox.Job{Language: "cobol"})
	var missing *sandbox.LanguageError
	if !errors.As(err, &missing) || missing.Language != "cobol" {
		t.Errorf("error %v", err)
	}
}
