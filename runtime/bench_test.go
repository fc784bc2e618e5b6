package runtime

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coderl/cr/runtime/sampling"
)

// BenchmarkEngine measures prefill and decode of the model in CR_TEST_MODEL:
// prompts of 512 tokens, then 64 tokens of each of n samples of one prompt.
func BenchmarkEngine(b *testing.B) {
	path := testModel(b)
	for _, threads := range []int{1, 2} {
		e, err := Open(b.Context(), path, Options{Threads: threads})
		check(b, err)
		for _, samples := range []int{1, 4} {
			b.Run(fmt.Sprintf("threads=%d/samples=%d", threads, samples), func(b *testing.B) {
				before, cpuBefore := e.Stats(), processorTime(b)
				for i := range b.N {
					sampleOnePrompt(b, e, uint64(i)+uint64(samples)<<32, samples)
				}
				share := (processorTime(b) - cpuBefore).Seconds() / b.Elapsed().Seconds() / float64(threads)
				b.ReportMetric(share, "cpu-share")
				s := e.Stats()
				prefilled, decoded := s.PrefillTokens-before.PrefillTokens, s.DecodeTokens-before.DecodeTokens
				b.ReportMetric(float64(prefilled)/(s.PrefillSeconds-before.PrefillSeconds), "prefill-tokens/s")
				b.ReportMetric(float64(decoded)/(s.DecodeSeconds-before.DecodeSeconds), "decode-tokens/s")
			})
		}
		check(b, e.Close())
	}
}

// processorTime is what this process has used. On a shared machine the speeds
// mean little where the share of it is far below 1.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var use syscall.Rusage
	check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &use))
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// sampleOnePrompt draws samples of a prompt that no run before has cached.
func sampleOnePrompt(b *testing.B, e *Engine, seed uint64, samples int) {
	b.Helper()
	prompt := make([]int32, 512)
	for i := range prompt {
		prompt[i] = int32(splitmix(seed<<16+uint64(i)) % uint64(e.config.Vocab))
	}
	var wait sync.WaitGroup
	for i := range samples {
		wait.Go(func() {
			s, err := e.NewSequence(prompt)
			if err != nil {
				b.Error(err)
				return
			}
			defer s.Close()
			p := Params{
				Sampling:  sampling.Params{Temperature: 0.6, TopP: 0.95},
				MaxTokens: 64, IgnoreEOS: true, Request: fmt.Sprint(i), LogProbs: true,
			}
			if _, err := s.Generate(b.Context(), p, nil); err != nil {
				b.Error(err)
			}
		})
	}
	wait.Wait()
}
