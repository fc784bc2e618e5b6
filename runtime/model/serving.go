package model

import "github.com/coderl/cr/runtime/tensor"

// serving runs a graph on scratch memory and a paged cache, with no memory of
// what came before: every operation writes where nothing is needed any more.
type serving struct {
	m         *Model
	cache     []tensor.KV
	out       []int32
	ids       tensor.Tensor // I32 [rows]
	positions tensor.Tensor // I32 [rows]
	slots     tensor.Tensor // I32 [rows]: rows of the cache
	seen      tensor.AttentionBatch
}

var _ Graph[tensor.Tensor, tensor.Tensor] = (*serving)(nil)

// serve puts a batch on the device.
func (m *Model) serve(cache []tensor.KV, b Batch) *serving {
	s, n := &m.scratch, len(b.IDs)
	s.reset()
	g := &serving{
		m: m, cache: cache, out: b.Out,
		ids: s.ids.Rows(0, n), positions: s.positions.Rows(0, n), slots: s.slots.Rows(0, n),
		seen: tensor.AttentionBatch{Seq: b.Seq, Pos: b.Pos, Pages: b.Pages, Scale: m.attnScale},
	}
	m.dev.WriteInts(g.ids, b.IDs)
	m.dev.WriteInts(g.positions, b.Pos)
	m.dev.WriteInts(g.slots, s.slotsOf(b))
	return g
}

// Embed implements [Graph].
func (g *serving) Embed(table tensor.Tensor) tensor.Tensor {
	x := g.m.scratch.x.Rows(0, g.ids.Shape[0])
	g.m.dev.Embed(x, table, g.ids)
	return x
}

// Block implements [Graph].
func (g *serving) Block(x tensor.Tensor, layer func(x tensor.Tensor) tensor.Tensor) tensor.Tensor {
	return layer(x)
}

// Norm implements [Graph].
func (g *serving) Norm(x, weight tensor.Tensor) tensor.Tensor {
	y := g.m.scratch.take(x.Shape[0], x.Shape[1])
	g.m.dev.RMSNorm(y, x, weight, g.m.Config.NormEps)
	return y
}

// HeadNorm implements [Graph].
func (g *serving) HeadNorm(x, weight tensor.Tensor) tensor.Tensor {
	heads := g.heads(x)
	g.m.dev.RMSNorm(heads, heads, weight, g.m.Config.NormEps)
	return x
}

// Linear implements [Graph].
func (g *serving) Linear(x tensor.Tensor, l Linear[tensor.Tensor]) tensor.Tensor {
	y := g.m.scratch.take(x.Shape[0], l.Weight.Shape[0])
	g.m.dev.MatMul(y, x, l.Weight)
	if l.Bias.Mem != nil {
		g.m.dev.Add(y, y, l.Bias)
	}
	return y
}

// RoPE implements [Graph].
func (g *serving) RoPE(x tensor.Tensor) tensor.Tensor {
	g.m.dev.RoPE(g.heads(x), g.positions, g.m.invFreq, g.m.ropeScale)
	return x
}

// Remember stores keys and values in the cache. Behind those of the last layer,
// nothing reads the rows whose logits are not wanted.
func (g *serving) Remember(layer int, k, v, x, h tensor.Tensor) (xWanted, hWanted tensor.Tensor) {
	kv := g.cache[layer]
	g.m.dev.StoreRows(kv.K, g.heads(k), g.slots)
	g.m.dev.StoreRows(kv.V, g.heads(v), g.slots)
	if layer < g.m.Config.Layers-1 || len(g.out) == len(g.seen.Pos) {
		return x, h
	}
	return g.narrow(x, h)
}

// narrow keeps the wanted rows alone.
func (g *serving) narrow(x, h tensor.Tensor) (xWanted, hWanted tensor.Tensor) {
	d, s, n := g.m.dev, &g.m.scratch, len(g.out)
	rows := s.out.Rows(0, n)
	d.WriteInts(rows, g.out)
	xWanted, hWanted = s.last.Rows(0, n), s.take(n, h.Shape[1])
	d.CopyRows(xWanted, x, rows)
	d.CopyRows(hWanted, h, rows)
	kept := tensor.AttentionBatch{Pages: g.seen.Pages, Scale: g.seen.Scale}
	for _, row := range g.out {
		kept.Seq, kept.Pos = append(kept.Seq, g.seen.Seq[row]), append(kept.Pos, g.seen.Pos[row])
	}
	g.seen, g.positions = kept, g.positions.Rows(0, n)
	d.WriteInts(g.positions, kept.Pos)
	return xWanted, hWanted
}

// Attend implements [Graph]: keys and values come from the cache.
func (g *serving) Attend(layer int, q, _, _ tensor.Tensor) tensor.Tensor {
	mixed := g.m.scratch.take(q.Shape...)
	g.m.dev.Attention(g.heads(mixed), g.heads(q), g.cache[layer], g.seen)
	return mixed
}

// SiLUMul implements [Graph].
func (g *serving) SiLUMul(gate, up tensor.Tensor) tensor.Tensor {
	g.m.dev.SiLUMul(gate, gate, up)
	return gate
}

// Residual adds in place, and takes the branch's memory back.
func (g *serving) Residual(x, branch tensor.Tensor) tensor.Tensor {
	g.m.dev.Add(x, x, branch)
	g.m.scratch.reset()
	return x
}

// heads views [rows, heads·headDim] as [rows, heads, headDim].
func (g *serving) heads(x tensor.Tensor) tensor.Tensor {
	dim := g.m.Config.HeadDim
	return x.Reshape(x.Shape[0], x.Shape[1]/dim, dim)
}
