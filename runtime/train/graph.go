package train

import (
	"context"
	"math"

	"github.com/coderl/cr/runtime/model"
	"github.com/coderl/cr/runtime/tensor"
	"github.com/coderl/cr/runtime/tensor/autograd"
)

// graph runs a model's graph on a tape, for one packed batch.
type graph struct {
	*autograd.Tape
	ctx           context.Context
	config        model.Config
	ids           tensor.Tensor
	rotation      autograd.Rotation
	segments      tensor.PackedBatch
	checkpointing bool
	adapterScale  float32 // 0: adapters are off
}

var _ model.Graph[*autograd.Value, *weight] = (*graph)(nil)

// Embed implements [model.Graph].
func (g *graph) Embed(table *weight) *autograd.Value { return g.Tape.Embed(table.leaf, g.ids) }

// Block implements [model.Graph].
func (g *graph) Block(x *autograd.Value, layer func(x *autograd.Value) *autograd.Value) *autograd.Value {
	if err := g.ctx.Err(); err != nil {
		g.Fail(err)
	}
	if g.checkpointing {
		return g.Checkpoint(x, layer)
	}
	return layer(x)
}

// Norm implements [model.Graph].
func (g *graph) Norm(x *autograd.Value, w *weight) *autograd.Value {
	return g.RMSNorm(x, w.leaf, g.config.NormEps)
}

// HeadNorm implements [model.Graph].
func (g *graph) HeadNorm(x *autograd.Value, w *weight) *autograd.Value { return g.Norm(x, w) }

// Linear implements [model.Graph]. With an adapter it is
// x·Wᵀ + b + scale·(x·Aᵀ)·Bᵀ.
func (g *graph) Linear(x *autograd.Value, l model.Linear[*weight]) *autograd.Value {
	y := g.MatMul(x, l.Weight.leaf)
	if l.Bias != nil {
		y = g.AddRow(y, l.Bias.leaf)
	}
	if a := l.Weight.adapter; a != nil && g.adapterScale != 0 {
		y = g.AddScaled(y, g.MatMul(g.MatMul(x, a.a.leaf), a.b.leaf), g.adapterScale)
	}
	return y
}

// RoPE implements [model.Graph].
func (g *graph) RoPE(x *autograd.Value) *autograd.Value { return g.Tape.RoPE(x, g.rotation) }

// Remember implements [model.Graph]: keys and values are on the tape already.
func (g *graph) Remember(_ int, _, _, x, h *autograd.Value) (xWanted, hWanted *autograd.Value) {
	return x, h
}

// Attend implements [model.Graph].
func (g *graph) Attend(_ int, q, k, v *autograd.Value) *autograd.Value {
	return g.Attention(q, k, v, g.config.HeadDim, g.segments)
}

// Residual implements [model.Graph].
func (g *graph) Residual(x, branch *autograd.Value) *autograd.Value { return g.Add(x, branch) }

// newGraph makes the graph of a batch whose indices are on the device.
func (t *Trainer) newGraph(ctx context.Context, tape *autograd.Tape, b Batch, on indices) *graph {
	g := &graph{
		Tape: tape, ctx: ctx, config: t.config, ids: on.ids, checkpointing: t.options.Checkpointing,
		rotation: autograd.Rotation{
			Positions: on.positions, InvFreq: t.invFreq, Backward: t.backFreq, Scale: t.ropeScale,
		},
		segments: tensor.PackedBatch{Starts: b.Starts, Scale: float32(1 / math.Sqrt(float64(t.config.HeadDim)))},
	}
	if lora := t.options.LoRA; lora != nil {
		g.adapterScale = float32(lora.scale())
	}
	return g
}
