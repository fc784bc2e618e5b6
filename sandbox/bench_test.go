package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
)

// The programs of the benchmarks: a typical answer of a few lines.
var (
	benchStdin = sandbox.Job{
		Language: "python", Stdin: []byte("3\n1 2\n3 4\n5 6\n"), Prelude: true,
		Code: "n = int(input())\nfor _ in range(n):\n    a, b = map(int, input().split())\n    print(a + b)\n",
	}
	benchCall = sandbox.Job{
		Language: "python", Prelude: true,
		Code: "class Solution:\n    def f(self, a: List[int]) -> int:\n        return sum(sorted(a))\n",
		Call: &sandbox.Call{Class: "Solution", Method: "f", Args: raw("[3, 1, 2]")},
	}
	benchCPP = sandbox.Job{
		Language: "cpp", Stdin: []byte("1 2\n3 4\n5 6\n"),
		Code: "#include <bits/stdc++.h>\nint main() { long a, b; while (std::cin >> a >> b) std::cout << a + b << '\\n'; }\n",
	}
	benchAssert = sandbox.Job{
		Language: "python",
		Code:     "from typing import List\n\ndef close(xs: List[float], d: float) -> bool:\n    xs = sorted(xs)\n    return any(b - a < d for a, b in zip(xs, xs[1:]))\n",
		Check: &sandbox.Check{Entry: "close", Tests: "def check(candidate):\n    assert candidate([1.0, 2.0, 3.9, 4.0, 5.0, 2.2], 0.3) == True\n" +
			"    assert candidate([1.0, 2.0, 3.9, 4.0, 5.0, 2.2], 0.05) == False\n    assert candidate([1.0, 2.0, 5.9, 4.0, 5.0], 0.95) == True\n"},
	}
)

// cpuTime is what this process and its dead children have used.
func cpuTime(b *testing.B) (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

// throughput runs a job over and over on all processors. The CPU time is that
// of everything, lanes and this process too, less that of starting the lanes.
func throughput(b *testing.B, job sandbox.Job) {
	workers := runtime.NumCPU()
	idle := cpuTime(b)
	closeLanes(b, workers, nil)
	idle = cpuTime(b) - idle
	start := cpuTime(b)
	closeLanes(b, workers, func(l *sandbox.Local) {
		run(b, l, job) // compiles, where the language does
		next := make(chan struct{})
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for range next {
					if r, err := l.Run(context.Background(), job); err != nil || r.Status != sandbox.OK {
						b.Errorf("%s %v", r.Status, err)
					}
				}
			})
		}
		b.ResetTimer()
		for range b.N {
			next <- struct{}{}
		}
		close(next)
		wg.Wait()
		b.StopTimer()
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tests/s")
	b.ReportMetric(float64((cpuTime(b)-start-idle).Microseconds())/float64(b.N)/1000, "cpu-ms/test")
}

// closeLanes opens a sandbox, lets work use it, and closes it again.
func closeLanes(b *testing.B, workers int, work func(*sandbox.Local)) {
	l, err := sandbox.NewLocal(sandbox.LocalOptions{Workers: workers})
	if err != nil {
		b.Skip(err)
	}
	if work == nil {
		time.Sleep(time.Second) // until all lanes have started
	} else {
		work(l)
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkStdin is the throughput of warm Python tests that read and print.
func BenchmarkStdin(b *testing.B) { throughput(b, benchStdin) }

// BenchmarkCall is the throughput of function-call tests.
func BenchmarkCall(b *testing.B) { throughput(b, benchCall) }

// BenchmarkAssert is the throughput of HumanEval-like problems.
func BenchmarkAssert(b *testing.B) { throughput(b, benchAssert) }

// BenchmarkCPP is the throughput of a C++ program that is compiled once.
func BenchmarkCPP(b *testing.B) { throughput(b, benchCPP) }

// BenchmarkCompiled is the throughput of C++ tests, compiled once.
func BenchmarkCompiled(b *testing.B) {
	if _, err := exec.LookPath("g++"); err != nil {
		b.Skip(err)
	}
	throughput(b, sandbox.Job{
		Language: "cpp", Stdin: benchStdin.Stdin,
		Code: "#include <cstdio>\nint main() { int n, a, b; scanf(\"%d\", &n); while (n--) { scanf(\"%d %d\", &a, &b); printf(\"%d\\n\", a + b); } }\n",
	})
}

// BenchmarkLane measures the memory that an idle lane has to itself.
func BenchmarkLane(b *testing.B) {
	l := open(b, sandbox.LocalOptions{Workers: 4})
	for range 20 {
		run(b, l, benchStdin)
	}
	time.Sleep(2 * time.Second) // until all lanes have started
	for b.Loop() {
		var kib int64
		lanes := descendants(b, os.Getpid())
		for _, pid := range lanes {
			kib += proportionalKiB(pid)
		}
		b.ReportMetric(float64(kib)/1024/5, "MB/lane") // a spare one besides
	}
}

// proportionalKiB is the memory of a process, shared pages counted in parts; 0
// when it has ended.
func proportionalKiB(pid int) (kib int64) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if n, err := fmt.Sscanf(line, "Pss: %d kB", &kib); n == 1 && err == nil {
			return kib
		}
	}
	return 0
}

// BenchmarkHello is the latency of a job in one lane.
func BenchmarkHello(b *testing.B) {
	l := open(b, sandbox.LocalOptions{Workers: 1})
	job := sandbox.Job{Language: "python", Code: "print('hello')\n"}
	times := make([]time.Duration, 0, b.N)
	for b.Loop() {
		start := time.Now()
		run(b, l, job)
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkColdPython is the yardstick: a new interpreter without isolation.
func BenchmarkColdPython(b *testing.B) {
	start := cpuTime(b)
	n := 0
	for b.Loop() {
		n++
		if err := exec.Command("/usr/bin/python3", "-c", "pass").Run(); err != nil {
			b.Skip(err)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-start).Microseconds())/float64(n)/1000, "cpu-ms/test")
}
