package model

// Graph runs the operations that decoders are made of, on values of type V and
// weights of type W. A device's memory with a key/value cache serves (package
// model), a tape of gradients trains (package train); the decoder is written
// once, below.
//
// A row of a value is one token's. An operation may overwrite the argument that
// it is said to consume, which is then not used again.
type Graph[V, W any] interface {
	// Embed returns the rows of the table that the batch's tokens name.
	Embed(table W) V
	// Block runs one layer, whose only input is x.
	Block(x V, layer func(x V) V) V
	// Norm is RMSNorm over the last dimension.
	Norm(x V, weight W) V
	// HeadNorm is Norm of each head alone. It consumes x.
	HeadNorm(x V, weight W) V
	// Linear is x·Wᵀ + b.
	Linear(x V, l Linear[W]) V
	// RoPE rotates the heads by the rows' positions. It consumes x.
	RoPE(x V) V
	// Remember keeps the keys and values of a layer for Attend. It returns the
	// rows of x and h that are still wanted: of the last layer, perhaps few.
	Remember(layer int, k, v, x, h V) (xWanted, hWanted V)
	// Attend is causal attention of q over the layer's keys and values.
	Attend(layer int, q, k, v V) V
	// SiLUMul is SiLU(gate) ∘ up. It consumes both.
	SiLUMul(gate, up V) V
	// Residual is x + branch. It consumes both, and all that led to branch.
	Residual(x, branch V) V
}

// Run computes the last hidden states of the batch that g was made for, normed:
// logits are their products with the head.
func Run[V, W any](g Graph[V, W], c Config, d *Decoder[W]) V {
	x := g.Embed(d.Embed)
	for i := range d.Blocks {
		b := &d.Blocks[i]
		x = g.Block(x, func(x V) V {
			return mlp(g, b, attention(g, c, b, i, x))
		})
	}
	return g.Norm(x, d.Norm)
}

// attention: x + Wo·softmax(q·kᵀ/√d)·v over the normed x. Qwen3 norms each head
// of queries and keys before the rotation.
func attention[V, W any](g Graph[V, W], c Config, b *Block[W], layer int, x V) V {
	h := g.Norm(x, b.AttnNorm)
	k, v := g.Linear(h, b.K), g.Linear(h, b.V)
	if c.Arch == Qwen3 {
		k = g.HeadNorm(k, b.KNorm)
	}
	k = g.RoPE(k)
	x, h = g.Remember(layer, k, v, x, h)
	q := g.Linear(h, b.Q)
	if c.Arch == Qwen3 {
		q = g.HeadNorm(q, b.QNorm)
	}
	q = g.RoPE(q)
	return g.Residual(x, g.Linear(g.Attend(layer, q, k, v), b.O))
}

// mlp: x + Wdown·(SiLU(Wgate·x) ∘ Wup·x) over the normed x.
func mlp[V, W any](g Graph[V, W], b *Block[W], x V) V {
	h := g.Norm(x, b.MLPNorm)
	return g.Residual(x, g.Linear(g.SiLUMul(g.Linear(h, b.Gate), g.Linear(h, b.Up)), b.Down))
}
