package cpu

import (
	"fmt"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
)

// benchDevice opens the named kernels.
func benchDevice(b *testing.B, kernels string, threads int) *Device {
	d, err := Open(Options{Threads: threads, Kernels: kernels})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := d.Close(); err != nil {
			b.Error(err)
		}
	})
	return d
}

func benchTensor(b *testing.B, d *Device, dtype tensor.DType, shape ...int) tensor.Tensor {
	t, err := d.New(dtype, shape...)
	if err != nil {
		b.Fatal(err)
	}
	return t
}

// BenchmarkMatMul runs the products of SmolLM2-135M. GB/s counts weight bytes;
// at one row they are what the product waits for.
func BenchmarkMatMul(b *testing.B) {
	products := []struct {
		dtype tensor.DType
		n, k  int
	}{
		{tensor.Q4_1, 576, 576},
		{tensor.Q4_1, 1536, 576},
		{tensor.Q4_1, 576, 1536},
		{tensor.Q8_0, 49152, 576},
		{tensor.F32, 1536, 576},
		{tensor.BF16, 1536, 576},
	}
	for _, p := range products {
		for _, m := range []int{1, 4, 128} {
			for _, kernels := range Kernels()[2:] {
				b.Run(fmt.Sprintf("%v/%dx%d/m%d/%s", p.dtype, p.n, p.k, m, kernels), func(b *testing.B) {
					d := benchDevice(b, kernels, 1)
					w := benchTensor(b, d, p.dtype, p.n, p.k)
					x, dst := benchTensor(b, d, tensor.F32, m, p.k), benchTensor(b, d, tensor.F32, m, p.n)
					for b.Loop() {
						d.MatMul(dst, x, w)
					}
					seconds := b.Elapsed().Seconds() / float64(b.N)
					b.ReportMetric(2e-9*float64(m*p.n*p.k)/seconds, "GFLOP/s")
					b.ReportMetric(1e-9*float64(p.dtype.Bytes(p.n*p.k))/seconds, "GB/s")
				})
			}
		}
	}
}

// BenchmarkAttention runs one layer of SmolLM2-135M: a step of one and of four
// sequences, and the last chunk of a long prompt.
func BenchmarkAttention(b *testing.B) {
	const length = 1024
	for _, rows := range []int{1, 4, 128} {
		for _, kernels := range Kernels()[2:] {
			b.Run(fmt.Sprintf("rows%d/%s", rows, kernels), func(b *testing.B) {
				d := benchDevice(b, kernels, 1)
				kv := tensor.KV{K: benchTensor(b, d, tensor.F32, length, 3, 64), V: benchTensor(b, d, tensor.F32, length, 3, 64)}
				q := benchTensor(b, d, tensor.F32, rows, 9, 64)
				batch := tensor.AttentionBatch{Pages: [][]int32{make([]int32, length/tensor.PageSize)}, Scale: 0.125}
				for p := range batch.Pages[0] {
					batch.Pages[0][p] = int32(p)
				}
				for i := range rows {
					batch.Seq, batch.Pos = append(batch.Seq, 0), append(batch.Pos, int32(length-rows+i))
				}
				for b.Loop() {
					d.Attention(q, q, kv, batch)
				}
				keys := float64(rows*length) * 9
				b.ReportMetric(keys*64*4*1e-9/(b.Elapsed().Seconds()/float64(b.N)), "GFLOP/s")
			})
		}
	}
}

// BenchmarkSmall measures what an operation costs when there is hardly any work.
func BenchmarkSmall(b *testing.B) {
	d := benchDevice(b, "auto", 2)
	x, w := benchTensor(b, d, tensor.F32, 1, 576), benchTensor(b, d, tensor.F32, 576)
	b.Run("RMSNorm", func(b *testing.B) {
		for b.Loop() {
			d.RMSNorm(x, x, w, 1e-5)
		}
	})
	square := benchTensor(b, d, tensor.Q4_1, 192, 576)
	out := benchTensor(b, d, tensor.F32, 1, 192)
	b.Run("MatMul192", func(b *testing.B) {
		for b.Loop() {
			d.MatMul(out, x, square)
		}
	})
}
