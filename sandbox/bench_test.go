package sandbox_test

import (
	"context"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coderl/cr/sandbox"
)

// BenchmarkHello is the cost of a warm job in one lane, with the median beside
// the mean.
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

// BenchmarkHelloParallel is the throughput of two lanes.
func BenchmarkHelloParallel(b *testing.B) {
	l := open(b, sandbox.LocalOptions{Workers: 2})
	job := sandbox.Job{Language: "python", Code: "print('hello')\n"}
	var wg sync.WaitGroup
	next := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for range next {
				if _, err := l.Run(context.Background(), job); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for b.Loop() {
		next <- struct{}{}
	}
	close(next)
	wg.Wait()
}

// BenchmarkCall is the cost of a function call with its value.
func BenchmarkCall(b *testing.B) {
	l := open(b, sandbox.LocalOptions{Workers: 1})
	job := sandbox.Job{
		Language: "python", Prelude: true,
		Code: "class Solution:\n    def f(self, a: List[int]) -> int:\n        return sum(a)\n",
		Call: &sandbox.Call{Class: "Solution", Method: "f", Args: raw("[1, 2, 3]")},
	}
	for b.Loop() {
		run(b, l, job)
	}
}

// BenchmarkColdPython is the yardstick: a new interpreter without isolation.
func BenchmarkColdPython(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("python3", "-c", "print('hello')").Run(); err != nil {
			b.Skip(err)
		}
	}
}
