package model

import "github.com/coderl/cr/runtime/tensor"

// Batch is the rows of one step: tokens of any mix of sequences. Row i is token
// IDs[i] at position Pos[i] of sequence Seq[i], whose cache pages are
// Pages[Seq[i]] (see [tensor.AttentionBatch]).
type Batch struct {
	IDs, Seq, Pos []int32
	Pages         [][]int32
	Out           []int32 // rows whose logits are wanted, ascending
}

// Forward runs the rows of b, stores their keys and values in cache, and
// returns the logits [len(b.Out), vocab], valid until the next Forward. Errors
// of the device surface at its next Read or Sync.
func (m *Model) Forward(cache []tensor.KV, b Batch) tensor.Tensor {
	d := m.dev
	v := m.scratch.views(m.Config, len(b.IDs))
	d.WriteInts(v.ids, b.IDs)
	d.WriteInts(v.positions, b.Pos)
	d.WriteInts(v.slots, m.scratch.slotsOf(b))
	seen := tensor.AttentionBatch{Seq: b.Seq, Pos: b.Pos, Pages: b.Pages, Scale: m.attnScale}

	d.Embed(v.x, m.embed, v.ids)
	for i := range m.blocks {
		block := &m.blocks[i]
		m.remember(v, block, cache[i])
		if i == len(m.blocks)-1 {
			if len(b.Out) == 0 {
				return tensor.Tensor{}
			}
			v, seen = m.narrow(v, seen, b.Out)
		}
		m.attention(v, block, cache[i], seen)
		m.mlp(v, block)
	}
	return m.logits(v)
}

// remember norms x and stores its keys, rotated, and its values. Qwen3 norms
// each head before the rotation.
func (m *Model) remember(v views, b *block, kv tensor.KV) {
	d, eps := m.dev, m.Config.NormEps
	d.RMSNorm(v.normed, v.x, b.attnNorm, eps)
	m.apply(v.k, v.normed, b.k)
	m.apply(v.v, v.normed, b.v)
	if b.kNorm.Mem != nil {
		d.RMSNorm(v.kHeads, v.kHeads, b.kNorm, eps)
	}
	d.RoPE(v.kHeads, v.positions, m.invFreq, m.ropeScale)
	d.StoreRows(kv.K, v.kHeads, v.slots)
	d.StoreRows(kv.V, v.vHeads, v.slots)
}

// attention: x += Wo·softmax(q·kᵀ/√d)·v, with q from the normed x like k.
func (m *Model) attention(v views, b *block, kv tensor.KV, seen tensor.AttentionBatch) {
	d := m.dev
	m.apply(v.q, v.normed, b.q)
	if b.qNorm.Mem != nil {
		d.RMSNorm(v.qHeads, v.qHeads, b.qNorm, m.Config.NormEps)
	}
	d.RoPE(v.qHeads, v.positions, m.invFreq, m.ropeScale)
	d.Attention(v.mixedHeads, v.qHeads, kv, seen)
	m.apply(v.branch, v.mixed, b.o)
	d.Add(v.x, v.x, v.branch)
}

// mlp: x += Wdown·(SiLU(Wgate·x) ∘ Wup·x) over the normed x.
func (m *Model) mlp(v views, b *block) {
	d := m.dev
	d.RMSNorm(v.normed, v.x, b.mlpNorm, m.Config.NormEps)
	m.apply(v.gate, v.normed, b.gate)
	m.apply(v.up, v.normed, b.up)
	d.SiLUMul(v.gate, v.gate, v.up)
	m.apply(v.branch, v.gate, b.down)
	d.Add(v.x, v.x, v.branch)
}

// narrow keeps only the wanted rows of x and of the normed x: behind the last
// block's keys and values, nothing reads the others.
func (m *Model) narrow(v views, seen tensor.AttentionBatch, out []int32) (views, tensor.AttentionBatch) {
	if len(out) == len(seen.Pos) {
		return v, seen
	}
	d, s := m.dev, &m.scratch
	few := s.views(m.Config, len(out))
	few.x, few.normed, few.branch = s.last.Rows(0, len(out)), few.branch, few.normed
	rows := s.out.Rows(0, len(out))
	d.WriteInts(rows, out)
	d.CopyRows(few.x, v.x, rows)
	d.CopyRows(few.normed, v.normed, rows)
	kept := tensor.AttentionBatch{Pages: seen.Pages, Scale: seen.Scale}
	for _, row := range out {
		kept.Seq, kept.Pos = append(kept.Seq, seen.Seq[row]), append(kept.Pos, seen.Pos[row])
	}
	d.WriteInts(few.positions, kept.Pos)
	return few, kept
}

// logits norms and projects x.
func (m *Model) logits(v views) tensor.Tensor {
	m.dev.RMSNorm(v.normed, v.x, m.norm, m.Config.NormEps)
	logits := m.scratch.logits.Rows(0, v.x.Shape[0])
	m.dev.MatMul(logits, v.normed, m.head)
	return logits
}

// apply: dst = x·Wᵀ + b.
func (m *Model) apply(dst, x tensor.Tensor, l linear) {
	m.dev.MatMul(dst, x, l.weight)
	if l.bias.Mem != nil {
		m.dev.Add(dst, dst, l.bias)
	}
}
