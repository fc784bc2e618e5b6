package model

import "github.com/coderl/cr/runtime/tensor"

// Batch is the rows of one step: tokens of any mix of sequences. Row i is token
// IDs[i] at position Pos[i] of sequence Seq[i], whose cache pages are
// Pages[Seq[i]] (see [tensor.AttentionBatch]).
type Batch struct {
	IDs, Seq, Pos []int32
	Pages         [][]int32
	Out           []int32 // rows whose logits are wanted
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
		m.attention(v, &m.blocks[i], cache[i], seen)
		m.mlp(v, &m.blocks[i])
	}
	return m.logits(v, b.Out)
}

// attention: x += Wo·softmax(q·kᵀ/√d)·v over the normed x, with rotary q and k.
// Qwen3 norms each head of q and k before the rotation.
func (m *Model) attention(v views, b *block, kv tensor.KV, seen tensor.AttentionBatch) {
	d, eps := m.dev, m.Config.NormEps
	d.RMSNorm(v.normed, v.x, b.attnNorm, eps)
	m.apply(v.q, v.normed, b.q)
	m.apply(v.k, v.normed, b.k)
	m.apply(v.v, v.normed, b.v)
	if b.qNorm.Mem != nil {
		d.RMSNorm(v.qHeads, v.qHeads, b.qNorm, eps)
		d.RMSNorm(v.kHeads, v.kHeads, b.kNorm, eps)
	}
	d.RoPE(v.qHeads, v.positions, m.invFreq, m.ropeScale)
	d.RoPE(v.kHeads, v.positions, m.invFreq, m.ropeScale)
	d.StoreRows(kv.K, v.kHeads, v.slots)
	d.StoreRows(kv.V, v.vHeads, v.slots)
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

// logits norms and projects only the wanted rows.
func (m *Model) logits(v views, out []int32) tensor.Tensor {
	d, s := m.dev, &m.scratch
	if len(out) == 0 {
		return tensor.Tensor{}
	}
	rows, last, logits := s.out.Rows(0, len(out)), s.last.Rows(0, len(out)), s.logits.Rows(0, len(out))
	d.WriteInts(rows, out)
	d.CopyRows(last, v.x, rows)
	d.RMSNorm(last, last, m.norm, m.Config.NormEps)
	d.MatMul(logits, last, m.head)
	return logits
}

// apply: dst = x·Wᵀ + b.
func (m *Model) apply(dst, x tensor.Tensor, l linear) {
	m.dev.MatMul(dst, x, l.weight)
	if l.bias.Mem != nil {
		m.dev.Add(dst, dst, l.bias)
	}
}
