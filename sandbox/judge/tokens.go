package judge

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// diffTokens compares text split at white space, token by token; where lines
// end does not matter.
func diffTokens(expected, got string, same func(expected, got string) bool) string {
	want, have := strings.FieldsFunc(expected, pythonSpace), strings.FieldsFunc(got, pythonSpace)
	for i := range min(len(want), len(have)) {
		if !same(want[i], have[i]) {
			return fmt.Sprintf("token %d: expected %s, got %s", i+1, quote(want[i]), quote(have[i]))
		}
	}
	if len(want) != len(have) {
		return fmt.Sprintf("expected %s, got %d", count(len(want), "token"), len(have))
	}
	return ""
}

// sameToken holds for equal text and for equal plain numerals.
func sameToken(expected, got string) bool {
	if expected == got {
		return true
	}
	want, ok := plainNumber(expected)
	if !ok {
		return false
	}
	have, ok := plainNumber(got)
	return ok && want.equal(have)
}

// nearToken adds the checker's tolerance where the expected token has a fraction
// or an exponent. Integers stay exact, since no statement grants a tolerance on
// them, unless the checker says that they are reals written short.
func (c *Checker) nearToken(expected, got string) bool {
	if sameToken(expected, got) {
		return true
	}
	if !c.Reals && !strings.ContainsAny(expected, ".eE") {
		return false
	}
	if _, ok := plainNumber(expected); !ok {
		return false
	}
	if _, ok := plainNumber(got); !ok {
		return false
	}
	return c.near(parseFloat(expected), parseFloat(got))
}

// near holds when |got - expected| ≤ eps, or ≤ eps·|expected| for rel_or_abs.
// Beyond float64 nothing is near: equal numbers were found equal before.
func (c *Checker) near(expected, got float64) bool {
	if math.IsInf(expected, 0) || math.IsInf(got, 0) {
		return false
	}
	diff := math.Abs(got - expected)
	return diff <= c.Eps || c.Mode == "rel_or_abs" && diff <= c.Eps*math.Abs(expected)
}

// parseFloat reads a numeral that is known to be well formed; beyond the range
// of float64 it is an infinity, as in Python.
func parseFloat(numeral string) float64 {
	f, _ := strconv.ParseFloat(numeral, 64) // out of range is the infinity we want
	return f
}
