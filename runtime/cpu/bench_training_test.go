package cpu

import (
	"fmt"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
)

// trainingProducts are shapes [m, n, k] of the products of a small Qwen3 and of
// SmolLM2-135M over a micro-batch.
var trainingProducts = [][3]int{
	{2048, 192, 192}, {2048, 512, 192}, {2048, 192, 512}, {2048, 1024, 192},
	{2048, 576, 576}, {2048, 1536, 576}, {2048, 576, 1536}, {512, 49152, 576},
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
