package eval

import (
	"cmp"
	"fmt"

	"github.com/coderl/cr/internal/amount"
)

// GateOutcome is the answer of a gate.
type GateOutcome string

// The answers of a gate.
const (
	GatePass         GateOutcome = "pass"         // the drop is below the limit, with confidence
	GateFail         GateOutcome = "fail"         // the drop is above the limit, with confidence
	GateInconclusive GateOutcome = "inconclusive" // the limit lies within the noise
)

// GateOptions are a gate's limits.
type GateOptions struct {
	MaxDrop    float64 // of pass@1, as a share; 0.02 is two points
	Confidence float64 // 0: 0.95
	Intersect  bool
}

// GateResult is a gate's decision with what it rests on.
type GateResult struct {
	Outcome GateOutcome `json:"outcome"`
	Reason  string      `json:"reason"` // one line for people
	MaxDrop float64     `json:"max_drop"`
	// Drop is baseline − run, with the interval that decided.
	Drop Estimate `json:"drop"`
	// Detectable is the smallest drop that the gate could detect; see Comparison.
	Detectable *float64   `json:"detectable"`
	Comparison Comparison `json:"comparison"`
}

// Gate decides by the interval of the paired drop, not by its middle: pass when
// all of it is at most MaxDrop, fail when all of it is above, else inconclusive.
// Two runs without any change pass, whatever their size.
func Gate(run, baseline Finished, o GateOptions) (GateResult, error) {
	if o.MaxDrop < 0 || o.MaxDrop > 1 {
		return GateResult{}, fmt.Errorf("max drop %v: must lie in 0..1", o.MaxDrop)
	}
	if !(o.MaxDrop >= 0 && o.MaxDrop <= 1) { // also not NaN
		return GateResult{}, fmt.Errorf("allowed drop %v: must lie between 0 and 1", o.MaxDrop)
	}
	o.Confidence = cmp.Or(o.Confidence, reportConfidence)
	c, err := Compare(baseline, run, CompareOptions{Confidence: o.Confidence, Intersect: o.Intersect})
	if err != nil {
		return GateResult{}, err
	}
	d := c.Difference
	g := GateResult{MaxDrop: o.MaxDrop, Comparison: c, Detectable: c.Detectable, Drop: Estimate{Value: -d.Value, Stderr: d.Stderr, Low: -d.High, High: -d.Low}}
	switch {
	case len(c.Gained)+len(c.Lost) == 0:
		g.Outcome = GatePass
		g.Reason = "no problem's score changed" + detectableText(c)
	case g.Drop.High <= o.MaxDrop:
		g.Outcome = GatePass
		g.Reason = fmt.Sprintf("the drop is at most %.1f points", 100*max(0, g.Drop.High))
	case g.Drop.Low > o.MaxDrop:
		g.Outcome = GateFail
		g.Reason = fmt.Sprintf("the drop is at least %.1f points, more than the %.1f allowed", 100*g.Drop.Low, 100*o.MaxDrop)
	default:
		g.Outcome = GateInconclusive
		g.Reason = fmt.Sprintf("the drop lies between %.1f and %.1f points, around the %.1f allowed%s",
			100*g.Drop.Low, 100*g.Drop.High, 100*o.MaxDrop, detectableText(c))
	}
	return g, nil
}

// detectableText says what the comparison could find, "" when that is unknown.
func detectableText(c Comparison) string {
	if c.Detectable == nil {
		return ""
	}
	return fmt.Sprintf("; with %s the smallest drop it could detect is %.1f points", amount.Of(c.Problems, "problem"), 100**c.Detectable)
}
