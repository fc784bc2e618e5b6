package runtime

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coderl/cr/runtime/sampling"
)

// BenchmarkEngine measures the model in CR_TEST_MODEL: a prompt of 512 tokens,
// then 64 tokens of each of n samples of it. Beside tokens/s it gives tokens
// per second of processor time, which holds on a shared machine, too.
func BenchmarkEngine(b *testing.B) {
	path := testModel(b)
	for _, threads := range []int{1, 2} {
		e, err := Open(b.Context(), path, Options{Threads: threads})
		check(b, err)
		for _, samples := range []int{1, 4} {
			b.Run(fmt.Sprintf("threads=%d/samples=%d", threads, samples), func(b *testing.B) {
				var prefill, decode pace
				for i := range b.N {
					measure(b, e, uint64(i)+uint64(samples)<<32+uint64(b.N)<<40, samples, &prefill, &decode)
				}
				prefill.report(b, "prefill")
				decode.report(b, "decode")
			})
		}
		check(b, e.Close())
	}
}

// pace sums tokens with the time they took.
type pace struct {
	tokens          int
	wall, processor time.Duration
}

func (p *pace) add(b *testing.B, tokens int, work func()) {
	b.Helper()
	start, before := time.Now(), processorTime(b)
	work()
	p.tokens += tokens
	p.wall += time.Since(start)
	p.processor += processorTime(b) - before
}

func (p *pace) report(b *testing.B, name string) {
	b.Helper()
	b.ReportMetric(float64(p.tokens)/p.wall.Seconds(), name+"-tok/s")
	b.ReportMetric(float64(p.tokens)/p.processor.Seconds(), name+"-tok/cpu-s")
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var use syscall.Rusage
	check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &use))
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// measure draws samples of a prompt that no run before has cached.
func measure(b *testing.B, e *Engine, seed uint64, samples int, prefill, decode *pace) {
	b.Helper()
	prompt := make([]int32, 512)
	for i := range prompt {
		prompt[i] = int32(splitmix(seed<<16+uint64(i)) % uint64(e.config.Vocab))
	}
	list := make([]*Sequence, samples)
	for i := range list {
		var err error
		list[i], err = e.NewSequence(prompt)
		check(b, err)
		defer list[i].Close()
	}
	const tokens = 64
	prefill.add(b, len(prompt), func() { each(b, list[:1], 1) })
	each(b, list[1:], 1)
	decode.add(b, samples*tokens, func() { each(b, list, tokens) })
}

// each generates n tokens of every sequence, all at once.
func each(b *testing.B, list []*Sequence, n int) {
	b.Helper()
	var wait sync.WaitGroup
	for i, s := range list {
		wait.Go(func() {
			p := Params{
				Sampling:  sampling.Params{Temperature: 0.6, TopP: 0.95},
				MaxTokens: n, IgnoreEOS: true, Request: fmt.Sprint(i), LogProbs: true,
			}
			if _, err := s.Generate(b.Context(), p, nil); err != nil {
				b.Error(err)
			}
		})
	}
	wait.Wait()
}
