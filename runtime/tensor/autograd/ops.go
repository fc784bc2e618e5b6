package autograd

import "github.com/coderl/cr/runtime/tensor"

// Embed returns the rows of table [vocab, d] that ids, I32 [n], name: [n, d].
func (t *Tape) Embed(table *Value, ids tensor.Tensor) *Value {
	if !t.usable("Embed", table) {
		return &Value{}
	}
	y := t.make([]int{ids.Shape[0], table.data.Shape[1]}, table)
	if t.err != nil {
		return y
	}
	t.dev.Embed(y.data, table.data, ids)
	t.record(y, false, func() { t.dev.AddRows(t.Grad(table), y.grad, ids) })
	return y
}

// CopyRows returns the rows of x [n, d] that rows, I32 [m], name: [m, d].
func (t *Tape) CopyRows(x *Value, rows tensor.Tensor) *Value {
	if !t.usable("CopyRows", x) {
		return &Value{}
	}
	y := t.make([]int{rows.Shape[0], x.data.Shape[1]}, x)
	if t.err != nil {
		return y
	}
	t.dev.CopyRows(y.data, x.data, rows)
	t.record(y, false, func() { t.dev.AddRows(t.Grad(x), y.grad, rows) })
	return y
}

// RMSNorm norms each stretch of x of the weight's length d:
// y = x / sqrt(mean(x²)+eps) · weight, in x's shape.
func (t *Tape) RMSNorm(x, weight *Value, eps float32) *Value {
	if !t.usable("RMSNorm", x, weight) {
		return &Value{}
	}
	y := t.make(x.data.Shape, x, weight)
	if t.err != nil {
		return y
	}
	d := weight.data.Len()
	rows := func(v tensor.Tensor) tensor.Tensor { return v.Reshape(v.Len()/d, d) }
	t.dev.RMSNorm(rows(y.data), rows(x.data), weight.data, eps)
	t.record(y, false, func() {
		dx, dweight := t.Grad(x), tensor.Tensor{}
		if weight.wanted {
			dweight = t.Grad(weight)
		}
		if t.err == nil {
			t.dev.RMSNormGrad(rows(dx), dweight, rows(y.grad), rows(x.data), weight.data, eps)
		}
	}, x)
	return y
}

// MatMul returns x·wᵀ of x [m, k] and w [n, k], of any weight type: [m, n].
func (t *Tape) MatMul(x, w *Value) *Value {
	if !t.usable("MatMul", x, w) {
		return &Value{}
	}
	y := t.make([]int{x.data.Shape[0], w.data.Shape[0]}, x, w)
	if t.err != nil {
		return y
	}
	t.dev.MatMul(y.data, x.data, w.data)
	back := func() {
		if w.wanted {
			t.dev.MatMulGradW(t.Grad(w), y.grad, x.data)
		}
		if x.wanted {
			if dx := t.Grad(x); t.err == nil {
				t.dev.MatMulGradX(dx, y.grad, w.data)
			}
		}
	}
	if w.wanted {
		t.record(y, false, back, x, w)
	} else {
		t.record(y, false, back, w)
	}
	return y
}

// AddRow adds b [d] to each row of x, in place, and returns x.
func (t *Tape) AddRow(x, b *Value) *Value {
	if !t.usable("AddRow", x, b) || !t.overwritable("AddRow", x) {
		return x
	}
	x.wanted = x.wanted || b.wanted
	t.dev.Add(x.data, x.data, b.data)
	if b.wanted {
		t.record(x, true, func() { t.dev.SumRows(t.Grad(b), x.grad) })
	}
	return x
}

// AddScaled adds scale·y to x, in place, and returns x. It consumes y.
func (t *Tape) AddScaled(x, y *Value, scale float32) *Value {
	if !t.usable("AddScaled", x, y) || !t.overwritable("AddScaled", x) || !t.overwritable("AddScaled", y) {
		return x
	}
	x.wanted = x.wanted || y.wanted
	t.dev.AddScaled(x.data, y.data, scale)
	y.spent = true
	t.pool.put(y.buf)
	y.buf, y.data.Mem = nil, nil
	if y.wanted {
		t.record(x, true, func() {
			if dy := t.Grad(y); t.err == nil {
				t.dev.AddScaled(dy, x.grad, scale)
			}
		})
	}
	return x
}

// Add returns x + y, of one shape. It consumes y, whose memory it takes.
func (t *Tape) Add(x, y *Value) *Value {
	if !t.usable("Add", x, y) || !t.overwritable("Add", y) {
		return &Value{}
	}
	sum := &Value{data: y.data, buf: y.buf, wanted: x.wanted || y.wanted}
	t.values = append(t.values, sum)
	y.buf, y.data.Mem, y.spent = nil, nil, true
	t.dev.Add(sum.data, x.data, sum.data)
	t.record(sum, false, func() {
		if x.wanted {
			t.addGrad(x, sum.grad)
		}
		if y.wanted {
			y.grad, y.gradBuf = sum.grad, sum.gradBuf
			sum.grad, sum.gradBuf = tensor.Tensor{}, nil
		}
	})
	return sum
}

// SiLUMul returns gate·sigmoid(gate)·up, of one shape.
func (t *Tape) SiLUMul(gate, up *Value) *Value {
	if !t.usable("SiLUMul", gate, up) {
		return &Value{}
	}
	y := t.make(gate.data.Shape, gate, up)
	if t.err != nil {
		return y
	}
	t.dev.SiLUMul(y.data, gate.data, up.data)
	t.record(y, false, func() {
		dgate, dup := t.Grad(gate), t.Grad(up)
		if t.err == nil {
			t.dev.SiLUMulGrad(dgate, dup, y.grad, gate.data, up.data)
		}
	}, gate, up)
	return y
}

// Rotation is the angles of RoPE: row i turns by Positions[i]·InvFreq.
type Rotation struct {
	Positions tensor.Tensor // I32 [n]
	InvFreq   tensor.Tensor // [headDim/2]
	Backward  tensor.Tensor // −InvFreq, by which gradients turn back
	Scale     float32       // of sine and cosine
}

// RoPE rotates the heads of x [n, heads·headDim] in place, and returns x.
func (t *Tape) RoPE(x *Value, r Rotation) *Value {
	if !t.usable("RoPE", x) || !t.overwritable("RoPE", x) {
		return x
	}
	dim := 2 * r.InvFreq.Len()
	t.dev.RoPE(heads(x.data, dim), r.Positions, r.InvFreq, r.Scale)
	t.record(x, true, func() { t.dev.RoPE(heads(x.grad, dim), r.Positions, r.Backward, r.Scale) })
	return x
}

// Attention is causal attention within each segment of a packed batch: q
// [n, heads·headDim], k and v [n, kvHeads·headDim], the result as q.
func (t *Tape) Attention(q, k, v *Value, headDim int, b tensor.PackedBatch) *Value {
	if !t.usable("Attention", q, k, v) {
		return &Value{}
	}
	n := q.data.Shape[0]
	y, lse := t.make(q.data.Shape, q, k, v), t.make([]int{n, q.data.Shape[1] / headDim})
	if t.err != nil {
		return y
	}
	h := func(x tensor.Tensor) tensor.Tensor { return heads(x, headDim) }
	t.dev.PackedAttention(h(y.data), lse.data, h(q.data), h(k.data), h(v.data), b)
	t.record(y, false, func() {
		dq, dk, dv := t.Grad(q), t.Grad(k), t.Grad(v)
		if t.err == nil {
			t.dev.PackedAttentionGrad(h(dq), h(dk), h(dv), h(y.grad), h(y.data), lse.data, h(q.data), h(k.data), h(v.data), b)
		}
		t.free(lse)
	}, q, k, v, y)
	return y
}

// heads views [n, heads·dim] as [n, heads, dim].
func heads(x tensor.Tensor, dim int) tensor.Tensor {
	return x.Reshape(x.Shape[0], x.Shape[1]/dim, dim)
}
