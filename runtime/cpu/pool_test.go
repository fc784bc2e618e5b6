package cpu

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

func TestPoolRunsEachChunkOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 9} {
		p := newPool(threads)
		for round := range 300 {
			counts := make([]atomic.Int32, round%23+1)
			p.do(len(counts), func(chunk int) { counts[chunk].Add(1) })
			for i := range counts {
				if n := counts[i].Load(); n != 1 {
					t.Fatalf("%d threads, round %d: chunk %d ran %d times", threads, round, i, n)
				}
			}
		}
		p.close()
	}
}

// TestPoolWakesParkedWorkers lets every worker park, then needs two of them at
// once: each chunk waits for the other to begin.
func TestPoolWakesParkedWorkers(t *testing.T) {
	p := newPool(2)
	defer p.close()
	for range 3 {
		for !p.parked[0].asleep.Load() {
			time.Sleep(time.Millisecond)
		}
		var began atomic.Int32
		p.do(2, func(int) {
			for began.Add(1); began.Load() < 2; {
				runtime.Gosched()
			}
		})
	}
}

func TestPoolWaitsForASlowChunk(t *testing.T) {
	p := newPool(3)
	defer p.close()
	var done atomic.Int32
	p.do(3, func(chunk int) {
		if chunk > 0 { // longer than the owner spins
			time.Sleep(20 * time.Millisecond)
		}
		done.Add(1)
	})
	if done.Load() != 3 {
		t.Errorf("do returned after %d of 3 chunks", done.Load())
	}
}

func TestPoolCloseEndsItsWorkers(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		p := newPool(4)
		p.do(4, func(int) {})
		p.close()
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines, %d before", after, before)
	}
}

func TestSplitCoversEveryUnit(t *testing.T) {
	p := newPool(3)
	defer p.close()
	for _, units := range []int{1, 15, 16, 17, 100, 1000} {
		for _, cost := range []int{1, 1000, 1_000_000} {
			seen := make([]atomic.Int32, units)
			p.split(units, 16, cost, func(lo, hi int) {
				if lo%16 != 0 {
					t.Errorf("range [%d, %d) of %d is not aligned", lo, hi, units)
				}
				for i := lo; i < hi; i++ {
					seen[i].Add(1)
				}
			})
			for i := range seen {
				if seen[i].Load() != 1 {
					t.Fatalf("%d units of cost %d: unit %d ran %d times", units, cost, i, seen[i].Load())
				}
			}
		}
	}
}
