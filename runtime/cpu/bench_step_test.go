package cpu

import (
	"fmt"
	"testing"

	"github.com/coderl/cr/runtime/tensor"
)

// step is the operations of one forward pass of SmolLM2-135M (Q4_1, Q8_0 head)
// over rows at the end of a context.
type step struct {
	d                              *Device
	x, h, q, k, v, gate, up, out   tensor.Tensor
	norm, positions, freq          tensor.Tensor
	wq, wk, wv, wo, wg, wu, wd     []tensor.Tensor
	kv                             []tensor.KV
	head                           tensor.Tensor
	batch                          tensor.AttentionBatch
	rows, hidden, width, ffn, dims int
}

const stepLayers = 30

func newStep(b *testing.B, d *Device, rows, context int) *step {
	s := &step{d: d, rows: rows, hidden: 576, width: 192, ffn: 1536, dims: 64}
	f := func(shape ...int) tensor.Tensor { return benchTensor(b, d, tensor.F32, shape...) }
	s.x, s.h, s.q = f(rows, s.hidden), f(rows, s.hidden), f(rows, s.hidden)
	s.k, s.v = f(rows, s.width), f(rows, s.width)
	s.gate, s.up, s.out = f(rows, s.ffn), f(rows, s.ffn), f(rows, 49152)
	s.norm, s.freq, s.positions = f(s.hidden), f(s.dims/2), benchTensor(b, d, tensor.I32, rows)
	q4 := func(n, k int) tensor.Tensor { return benchTensor(b, d, tensor.Q4_1, n, k) }
	for range stepLayers {
		s.wq, s.wo = append(s.wq, q4(s.hidden, s.hidden)), append(s.wo, q4(s.hidden, s.hidden))
		s.wk, s.wv = append(s.wk, q4(s.width, s.hidden)), append(s.wv, q4(s.width, s.hidden))
		s.wg, s.wu = append(s.wg, q4(s.ffn, s.hidden)), append(s.wu, q4(s.ffn, s.hidden))
		s.wd = append(s.wd, q4(s.hidden, s.ffn))
		s.kv = append(s.kv, tensor.KV{K: f(context, 3, s.dims), V: f(context, 3, s.dims)})
	}
	s.head = benchTensor(b, d, tensor.Q8_0, 49152, s.hidden)
	s.batch = tensor.AttentionBatch{Pages: [][]int32{make([]int32, context/tensor.PageSize)}, Scale: 0.125}
	positions := make([]int32, rows)
	for i := range rows {
		positions[i] = int32(context - rows + i)
		s.batch.Seq = append(s.batch.Seq, 0)
	}
	for p := range s.batch.Pages[0] {
		s.batch.Pages[0][p] = int32(p)
	}
	s.batch.Pos = positions
	d.WriteInts(s.positions, positions)
	return s
}

// run is one pass; the head sees headRows rows.
func (s *step) run(headRows int) {
	d := s.d
	q, k := s.q.Reshape(s.rows, 9, s.dims), s.k.Reshape(s.rows, 3, s.dims)
	for l := range stepLayers {
		d.RMSNorm(s.h, s.x, s.norm, 1e-5)
		d.MatMul(s.q, s.h, s.wq[l])
		d.MatMul(s.k, s.h, s.wk[l])
		d.MatMul(s.v, s.h, s.wv[l])
		d.RoPE(q, s.positions, s.freq, 1)
		d.RoPE(k, s.positions, s.freq, 1)
		d.StoreRows(s.kv[l].K, s.k, s.positions)
		d.StoreRows(s.kv[l].V, s.v, s.positions)
		d.Attention(q, q, s.kv[l], s.batch)
		d.MatMul(s.h, s.q, s.wo[l])
		d.Add(s.x, s.x, s.h)
		d.RMSNorm(s.h, s.x, s.norm, 1e-5)
		d.MatMul(s.gate, s.h, s.wg[l])
		d.MatMul(s.up, s.h, s.wu[l])
		d.SiLUMul(s.gate, s.gate, s.up)
		d.MatMul(s.h, s.gate, s.wd[l])
		d.Add(s.x, s.x, s.h)
	}
	d.RMSNorm(s.h, s.x, s.norm, 1e-5)
	d.MatMul(s.out.Rows(0, headRows), s.h.Rows(0, headRows), s.head)
}

// BenchmarkStep gives the tokens per second of a device doing nothing else: one
// and four samples, and a chunk of a prompt.
func BenchmarkStep(b *testing.B) {
	for _, c := range []struct{ rows, head, context int }{{1, 1, 512}, {4, 4, 512}, {256, 1, 512}} {
		for _, threads := range []int{1, 2} {
			for _, kernels := range Kernels()[2:] {
				b.Run(fmt.Sprintf("rows%d/threads%d/%s", c.rows, threads, kernels), func(b *testing.B) {
					s := newStep(b, benchDevice(b, kernels, threads), c.rows, c.context)
					for b.Loop() {
						s.run(c.head)
					}
					if err := s.d.Sync(); err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(c.rows*b.N)/b.Elapsed().Seconds(), "tokens/s")
				})
			}
		}
	}
}
