package cpu

import (
	"fmt"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
)

// trainingProducts are shapes [m, n, k] of the products of a small Qwen3 and of
// SmolLM2-135M over a micro-batch.
var trainingProducts = [][3]int{
	{2048, 192, 192},
	{2048, 512, 192},
	{2048, 192, 512},
	{2048, 1024, 192},
	{2048, 576, 576},
	{2048, 1536, 576},
	{2048, 576, 1536},
	{512, 49152, 576},
}

// BenchmarkTrainingMatMul runs a product and both its gradients on two threads.
func BenchmarkTrainingMatMul(b *testing.B) {
	for _, p := range trainingProducts {
		m, n, k := p[0], p[1], p[2]
		for _, kernels := range Kernels()[2:] {
			d := benchDevice(b, kernels, 2)
			x, w, y := benchTensor(b, d, tensor.F32, m, k), benchTensor(b, d, tensor.F32, n, k), benchTensor(b, d, tensor.F32, m, n)
			for name, run := range map[string]func(){
				"forward": func() { d.MatMul(y, x, w) },
				"dx":      func() { d.MatMulGradX(x, y, w) },
				"dw":      func() { d.MatMulGradW(w, y, x) },
			} {
				b.Run(fmt.Sprintf("%dx%dx%d/%s/%s", m, n, k, name, kernels), func(b *testing.B) {
					for b.Loop() {
						run()
					}
					b.ReportMetric(2e-9*float64(m*n*k)/(b.Elapsed().Seconds()/float64(b.N)), "GFLOP/s")
				})
			}
		}
	}
}

// BenchmarkTrainingAttention runs one layer's attention, forward and backward.
func BenchmarkTrainingAttention(b *testing.B) {
	for _, c := range []struct{ heads, kv, dim, rows, segments int }{{6, 2, 32, 256, 8}, {9, 3, 64, 512, 4}, {9, 3, 64, 2048, 1}} {
		d := benchDevice(b, "auto", 2)
		n := c.rows * c.segments
		batch := tensor.PackedBatch{Starts: []int32{0}, Scale: 0.1}
		for i := range c.segments {
			batch.Starts = append(batch.Starts, int32((i+1)*c.rows))
		}
		query := func() tensor.Tensor { return benchTensor(b, d, tensor.F32, n, c.heads, c.dim) }
		key := func() tensor.Tensor { return benchTensor(b, d, tensor.F32, n, c.kv, c.dim) }
		q, k, v, out, lse := query(), key(), key(), query(), benchTensor(b, d, tensor.F32, n, c.heads)
		dq, dk, dv, dy := query(), key(), key(), query()
		flop := 2e-9 * float64(c.segments*c.heads*c.dim) * float64(c.rows*c.rows) / 2
		for _, run := range []struct {
			name  string
			times float64
			do    func()
		}{
			{"forward", 2, func() { d.PackedAttention(out, lse, q, k, v, batch) }},
			{"backward", 5, func() { d.PackedAttentionGrad(dq, dk, dv, dy, out, lse, q, k, v, batch) }},
		} {
			b.Run(fmt.Sprintf("%dx%d/heads%d/dim%d/%s", c.segments, c.rows, c.heads, c.dim, run.name), func(b *testing.B) {
				for b.Loop() {
					run.do()
				}
				b.ReportMetric(run.times*flop/(b.Elapsed().Seconds()/float64(b.N)), "GFLOP/s")
			})
		}
	}
}
