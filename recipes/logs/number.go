package logs

import (
	"math"
	"strconv"
	"strings"
)

// parsed is what became of a value's text.
type parsed int

const (
	isNumber  parsed = iota
	isMissing        // None: logged, but without a value
	notNumber
)

// parseNumber reads a value as Python prints it: 0.5, .5, 1e-06, -1.5E+2, nan,
// -inf, True, None, and any of them inside a call, as np.float64(0.5) or
// tensor(0.5, device='npu:0'). Digits with underscores or a unit behind them are
// no number.
func parseNumber(text string) (float64, parsed) {
	text = unwrapCall(strings.TrimSpace(text))
	switch strings.TrimPrefix(text, "np.") {
	case "None", "null":
		return 0, isMissing
	case "True", "true", "True_":
		return 1, isNumber
	case "False", "false", "False_":
		return 0, isNumber
	}
	sign, size := 1.0, text
	if size != "" && (size[0] == '-' || size[0] == '+') {
		if size[0] == '-' {
			sign = -1
		}
		size = size[1:]
	}
	switch strings.ToLower(size) {
	case "nan":
		return math.NaN(), isNumber
	case "inf", "infinity":
		return math.Inf(int(sign)), isNumber
	}
	if !isDecimal(size) {
		return 0, notNumber
	}
	v, err := strconv.ParseFloat(size, 64)
	if err != nil && !math.IsInf(v, 0) { // beyond the range is infinite, as in Python
		return 0, notNumber
	}
	return sign * v, isNumber
}

// unwrapCall is the first argument of a call, or text itself.
func unwrapCall(text string) string {
	open := strings.IndexByte(text, '(')
	if open <= 0 || text[len(text)-1] != ')' || !isDotted(text[:open]) {
		return text
	}
	inner := text[open+1 : len(text)-1]
	if comma := strings.IndexByte(inner, ','); comma >= 0 {
		inner = inner[:comma]
	}
	return strings.TrimSpace(inner)
}

// isDotted says whether text can be the name of a Python function.
func isDotted(text string) bool {
	for i := range len(text) {
		c := text[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	return text != ""
}

// isDecimal says whether text is digits with at most one point among or beside
// them, and an exponent or none.
func isDecimal(text string) bool {
	mantissa, exponent := text, "0"
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		mantissa, exponent = text[:e], text[e+1:]
		if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
			exponent = exponent[1:]
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	return whole+fraction != "" && exponent != "" && onlyDigits(whole) && onlyDigits(fraction) && onlyDigits(exponent)
}

func onlyDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}
