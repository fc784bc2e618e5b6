package cpu

import "github.com/coderl/cr/runtime/tensor"

// logProbs is one call, forward or backward. Entropies may be nil.
type logProbs struct {
	logits                              []float32
	targets                             []int32
	logp, lse, entropy, dlogp, dentropy []float32
	vocab                               int
	temperature                         float32
}

func (l *logProbs) rows(lo, hi int) []float32 { return l.logits[lo*l.vocab : hi*l.vocab] }

// part is a slice of values that may be absent.
func part(values []float32, lo, hi int) []float32 {
	if values == nil {
		return nil
	}
	return values[lo:hi]
}

// LogProbs implements [tensor.TrainingDevice].
func (d *Device) LogProbs(logp, lse, entropy, logits, targets tensor.Tensor, temperature float32) {
	const op = "LogProbs"
	if d.fail(tensor.CheckLogProbs(logp, lse, entropy, logits, targets, temperature)) {
		return
	}
	outP, outNorm, in, at := d.output(op, logp), d.output(op, lse), d.input(op, logits), d.input(op, targets)
	l := &logProbs{vocab: logits.Shape[1], temperature: temperature}
	if entropy.Mem != nil {
		l.entropy = floatsOf(d.output(op, entropy))
	}
	if d.err != nil || d.fail(tensor.CheckIndices(op, intsOf(at), l.vocab)) {
		return
	}
	l.logp, l.lse, l.logits, l.targets = floatsOf(outP), floatsOf(outNorm), floatsOf(in), intsOf(at)
	d.pool.split(len(l.targets), 1, 2*l.vocab, func(lo, hi int) { d.kern.logProbs(l, lo, hi) })
}

// LogProbsGrad implements [tensor.TrainingDevice].
func (d *Device) LogProbsGrad(logits, lse, entropy, targets, dlogp, dentropy tensor.Tensor, temperature float32) {
	const op = "LogProbsGrad"
	if d.fail(tensor.CheckLogProbsGrad(logits, lse, entropy, targets, dlogp, dentropy, temperature)) {
		return
	}
	out, norm, at, by := d.output(op, logits), d.input(op, lse), d.input(op, targets), d.input(op, dlogp)
	l := &logProbs{vocab: logits.Shape[1], temperature: temperature}
	if dentropy.Mem != nil {
		l.entropy, l.dentropy = floatsOf(d.input(op, entropy)), floatsOf(d.input(op, dentropy))
	}
	if d.err != nil || d.fail(tensor.CheckIndices(op, intsOf(at), l.vocab)) {
		return
	}
	l.logits, l.lse, l.targets, l.dlogp = floatsOf(out), floatsOf(norm), intsOf(at), floatsOf(by)
	d.pool.split(len(l.targets), 1, 2*l.vocab, func(lo, hi int) { d.kern.logProbsGrad(l, lo, hi) })
}
