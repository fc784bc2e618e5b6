package judge

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
)

// callTolerance is the relative difference that strict grants floats returned
// by a call, enough for another order of additions.
const callTolerance = 1e-9

// valueRule is how two JSON values are compared. Lists and tuples are the same:
// JSON has no tuples.
type valueRule struct {
	boolIsNumber bool // Python's True == 1
	numbers      func(expected, got string) bool
}

func valueRuleOf(mode Mode, checker *Checker) valueRule {
	switch {
	case mode == Published:
		return valueRule{boolIsNumber: true, numbers: equalNumbers}
	case checker == nil && mode == Lines:
		return valueRule{numbers: sameNumber}
	case checker == nil || checker.Mode == string(Tokens):
		return valueRule{numbers: closeNumbers}
	case checker.Mode == "exact":
		return valueRule{numbers: equalNumbers}
	default:
		return valueRule{numbers: checker.nearNumbers}
	}
}

// diffValues says how a returned value differs from the expected one, "" when
// it does not. Both are JSON texts.
func diffValues(expected, got string, rule valueRule) string {
	want, err := parseValue(expected)
	if err != nil {
		return "expected output: " + err.Error()
	}
	have, err := parseValue(got)
	if err != nil {
		return "returned value: " + err.Error()
	}
	path, same := rule.diff(want, have)
	if same {
		return ""
	}
	if path == "" {
		return fmt.Sprintf("expected %s, got %s", quote(expected), quote(got))
	}
	return fmt.Sprintf("at %s of the returned value: expected %s, got %s", cut(path, shown), quote(expected), quote(got))
}

// diff returns where two values first differ, as a path like [2]["a"].
func (r valueRule) diff(want, have value) (path string, same bool) {
	if r.boolIsNumber {
		want, have = want.asNumber(), have.asNumber()
	}
	if want.kind != have.kind {
		return "", false
	}
	switch want.kind {
	case kindNumber:
		return "", r.numbers(want.text, have.text)
	case kindList:
		return r.diffLists(want.list, have.list)
	case kindObject:
		return r.diffObjects(want.object, have.object)
	default:
		return "", want.truth == have.truth && want.text == have.text
	}
}

func (r valueRule) diffLists(want, have []value) (path string, same bool) {
	for i := range min(len(want), len(have)) {
		if path, same := r.diff(want[i], have[i]); !same {
			return fmt.Sprintf("[%d]%s", i, path), false
		}
	}
	return "", len(want) == len(have)
}

// diffObjects goes through the keys in order, so that a detail line is the same
// every time.
func (r valueRule) diffObjects(want, have map[string]value) (path string, same bool) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		other, ok := have[key]
		if !ok {
			return "", false
		}
		if path, same := r.diff(want[key], other); !same {
			return fmt.Sprintf("[%q]%s", key, path), false
		}
	}
	return "", len(want) == len(have)
}

func (v value) asNumber() value {
	if v.kind != kindBool {
		return v
	}
	if v.truth {
		return value{kind: kindNumber, text: "1"}
	}
	return value{kind: kindNumber, text: "0"}
}

// isFloat tells Python's float literals from its ints.
func isFloat(literal string) bool {
	return strings.ContainsAny(literal, ".eEN") || strings.Contains(literal, "Inf")
}

// equalNumbers is Python's == on numbers: ints exact whatever their size, an int
// equals a float of exactly its value, NaN equals nothing.
func equalNumbers(expected, got string) bool {
	switch {
	case isFloat(expected) && isFloat(got):
		return jsonFloat(expected) == jsonFloat(got)
	case isFloat(expected):
		return intEqualsFloat(got, jsonFloat(expected))
	case isFloat(got):
		return intEqualsFloat(expected, jsonFloat(got))
	default:
		return expected == got || isZero(expected) && isZero(got)
	}
}

func isZero(integer string) bool { return integer == "0" || integer == "-0" }

func intEqualsFloat(integer string, f float64) bool {
	if math.IsNaN(f) || math.IsInf(f, 0) || f != math.Trunc(f) {
		return false
	}
	whole, _ := big.NewFloat(f).Int(nil)
	return whole.String() == integer || isZero(integer) && f == 0
}

// sameNumber is equalNumbers, and NaN is what it is.
func sameNumber(expected, got string) bool {
	return equalNumbers(expected, got) || expected == "NaN" && got == "NaN"
}

// closeNumbers is sameNumber, with callTolerance where a float is expected.
func closeNumbers(expected, got string) bool {
	if sameNumber(expected, got) {
		return true
	}
	if !isFloat(expected) {
		return false
	}
	a, b := jsonFloat(expected), jsonFloat(got)
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return false
	}
	return math.Abs(a-b) <= callTolerance*max(math.Abs(a), math.Abs(b))
}

// nearNumbers is closeNumbers with the checker's tolerance as well.
func (c *Checker) nearNumbers(expected, got string) bool {
	return closeNumbers(expected, got) || (c.Reals || isFloat(expected)) && c.near(jsonFloat(expected), jsonFloat(got))
}

func jsonFloat(literal string) float64 {
	switch literal {
	case "NaN":
		return math.NaN()
	case "Infinity":
		return math.Inf(1)
	case "-Infinity":
		return math.Inf(-1)
	default:
		return parseFloat(literal)
	}
}
