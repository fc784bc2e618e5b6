package autograd

// Checkpoint runs part of a graph, whose only input but for leaves is x, and
// keeps nothing of it but x and the result: the backward pass runs it again.
// On a tape without a backward pass not even x is kept.
func (t *Tape) Checkpoint(x *Value, run func(x *Value) *Value) *Value {
	if !t.usable("Checkpoint", x) {
		return &Value{}
	}
	recording, mark := t.recording, len(t.values)
	t.recording = false
	y := run(x)
	t.recording = recording
	t.releaseFrom(mark, y)
	if !recording {
		t.free(x)
		x.spent = true
		return y
	}
	t.record(y, false, func() { t.again(x, y, run) }, x)
	return y
}

// again runs the part with a tape of its own and unwinds that.
func (t *Tape) again(x, y *Value, run func(x *Value) *Value) {
	steps, mark := t.steps, len(t.values)
	t.steps = nil
	twin := run(x)
	if t.err == nil {
		twin.grad, twin.gradBuf = y.grad, y.gradBuf
		y.grad.Mem, y.gradBuf = nil, nil
		t.unwind()
	}
	t.releaseFrom(mark, nil)
	t.steps = steps
}
