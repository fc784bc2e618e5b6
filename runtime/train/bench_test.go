package train

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coderl/cr/runtime/cpu"
	"github.com/coderl/cr/runtime/tensor"
)

// BenchmarkStep is one training step (forward, backward, AdamW) of a packed
// batch. CR_BENCH_MODEL is a model's folder, else a tiny one, from scratch as
// with CR_BENCH_SCRATCH; CR_BENCH_TOKENS and CR_BENCH_SEGMENT are sizes, CR_BENCH_THREADS the threads.
// scripts/bench-train.sh runs it beside PyTorch.
func BenchmarkStep(b *testing.B) {
	number := func(name string, otherwise int) int {
		n, err := strconv.Atoi(cmp.Or(os.Getenv(name), strconv.Itoa(otherwise)))
		check(b, err)
		return n
	}
	tokens, segment := number("CR_BENCH_TOKENS", 3072), number("CR_BENCH_SEGMENT", 256)
	path := os.Getenv("CR_BENCH_MODEL")
	o := Options{Checkpointing: os.Getenv("CR_BENCH_CHECKPOINTING") != "", Scratch: os.Getenv("CR_BENCH_SCRATCH") != ""}
	if path == "" {
		path, o.Scratch = b.TempDir(), true
		config, err := os.ReadFile("testdata/tiny.json")
		check(b, err)
		check(b, os.WriteFile(filepath.Join(path, "config.json"), config, 0o600))
	}
	trainer, err := OpenOn(b.Context(), cpu.New(number("CR_BENCH_THREADS", 2)), path, o)
	check(b, err)
	defer trainer.Close()
	batch := benchBatch(tokens, segment, trainer.Config().Vocab)
	loss := func(_, _ int, _, _, dlogp, _ []float32) {
		for i := range dlogp {
			dlogp[i] = -1 / float32(len(batch.Rows))
		}
	}
	before := processorSeconds(b)
	for b.Loop() {
		check(b, trainer.Backward(b.Context(), batch, 1, loss))
		_, err := trainer.Step(1e-5)
		check(b, err)
	}
	b.ReportMetric(float64(tokens*b.N)/b.Elapsed().Seconds(), "tokens/s")
	// Processor time holds on a shared machine, too.
	b.ReportMetric(float64(tokens*b.N)/(processorSeconds(b)-before), "tokens/cpu-s")
	b.ReportMetric(peakMiB(b), "peak-MiB")
}

// benchBatch is segments of one length, with a loss on every token.
func benchBatch(tokens, segment, vocab int) Batch {
	b := Batch{Starts: []int32{0}}
	for i := range tokens {
		b.IDs = append(b.IDs, int32(i*7919%vocab))
		b.Positions = append(b.Positions, int32(i%segment))
		if (i+1)%segment == 0 {
			b.Starts = append(b.Starts, int32(i+1))
			continue
		}
		b.Rows = append(b.Rows, int32(i))
		b.Targets = append(b.Targets, int32((i+1)*7919%vocab))
	}
	return b
}

// processorSeconds is what this process has used.
func processorSeconds(b *testing.B) float64 {
	b.Helper()
	var use syscall.Rusage
	check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &use))
	return time.Duration(use.Utime.Nano() + use.Stime.Nano()).Seconds()
}

// peakMiB is the most memory that the process held.
func peakMiB(b *testing.B) float64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			var kib float64
			_, err := fmt.Sscan(rest, &kib)
			check(b, err)
			return kib / 1024
		}
	}
	return 0
}

// TestExportForBenchmark makes the folder that both sides of a benchmark open.
func TestExportForBenchmark(t *testing.T) {
	path := os.Getenv("CR_BENCH_GGUF")
	if path == "" {
		t.Skip("CR_BENCH_GGUF names no model to export")
	}
	check(t, Export(t.Context(), path, os.Getenv("CR_BENCH_OUT"), tensor.F32))
}
